# SPDX-License-Identifier: GPL-2.0
#
# Makes a table of four files from profile-attribute.awk: mrpc over TCP, bare
# TCP, mrpc over loop, AF_UNIX.

FNR == 1 { column++ }
$1 == "self" {
	keys[$2 " " $3] = 1
	value[$2 " " $3, column] = $4
	modules[$2] = 1
	of_module[$2, column] += $4
	all["", column] += $4
}
$1 == "atomics" {
	locked[$2 " " $3] = 1
	atomics[$2 " " $3, column] = $4
	atomics["", column] += $4
}
# What takes memory from an allocator, and what moves bytes: how often, by whom.
$1 == "call" && $5 ~ /^(kmem_cache_alloc|__kmalloc|kvmalloc|__alloc_pages)/ &&
$3 !~ /^(kmem_cache_alloc|__kmalloc|kvmalloc|__alloc_pages|alloc_pages)/ {
	allocating[$2 " " $3] = 1
	allocations[$2 " " $3, column] += $6
	allocations["", column] += $6
}
$1 == "call" && $5 ~ /^(memcpy|memmove|rep_movs_alternative|__memcpy|__memmove)$/ &&
$3 !~ /^(memcpy|memmove|__memcpy|__memmove)$/ {
	copying[$2 " " $3] = 1
	copies[$2 " " $3, column] += $6
	copies["", column] += $6
}
# Callers and callees, in the first: only those of mrpc's own code.
$1 == "call" && column == 1 {
	by = $2 " " $3
	to = $4 " " $5
	pairs[++nr_pairs] = by SUBSEP to
	times[by, to] = $6
	entries[to] += $6
}

function line(sort, where, name, value, key)
{
	printf "%02d %-10s %-42s %9.1f %9.1f %+9.1f %9.1f %9.1f\n", sort, where, name,
		value[key, 1], value[key, 2], value[key, 1] - value[key, 2],
		value[key, 3], value[key, 4]
}

# Of what is counted one by one: all of them, and those of each function.
function each(sort, what, names, value,    k, part)
{
	line(sort, what, "(all)", value, "")
	for (k in names) {
		split(k, part, " ")
		line(sort + 1, part[1], part[2], value, k)
	}
}

# A function's instructions with those that it calls, shared out by how often
# each caller calls it. Iterated as often as calls can nest.
function total_all(    i, round, part, f)
{
	for (round = 0; round < 30; round++) {
		for (f in keys)
			sum[f] = value[f, 1]
		for (i = 1; i <= nr_pairs; i++) {
			split(pairs[i], part, SUBSEP)
			if (entries[part[2]] > 0 && part[1] != part[2])
				sum[part[1]] += total[part[2]] * times[pairs[i]] / entries[part[2]]
		}
		for (f in keys)
			total[f] = sum[f]
	}
}

END {
	printf "00 %-10s %-42s %9s %9s %9s %9s %9s\n", "", "instructions per call",
		"mrpc tcp", "bare tcp", "more", "mrpc loop", "unix"
	line(1, "total", "", all, "")
	for (m in modules)
		line(2, m, "(all)", of_module, m)
	for (k in keys) {
		split(k, part, " ")
		line(3, part[1], part[2], value, k)
	}
	each(5, "atomics", locked, atomics)
	each(7, "allocated", allocating, allocations)
	each(9, "copied", copying, copies)
	total_all()
	for (i = 1; i <= nr_pairs; i++) {
		split(pairs[i], pair, SUBSEP)
		split(pair[1], caller, " ")
		split(pair[2], callee, " ")
		if (caller[1] !~ /^mrpc/ || times[pairs[i]] < 0.05)
			continue
		printf "04 %-10s %-36s %-42s %8.2f %9.1f\n", caller[1], caller[2], callee[2],
			times[pairs[i]], total[pair[2]] * times[pairs[i]] / entries[pair[2]]
	}
}
