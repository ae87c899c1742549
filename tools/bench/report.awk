# SPDX-License-Identifier: GPL-2.0
#
# Makes the table, and the file that variable json names, of the lines that
# tools/bench/guest prints.

$1 == "turn" { next }
{
	for (i = 4; i <= NF; i++) {
		split($i, pair, "=")
		add($1, $2, $3, pair[1], pair[2])
		# What the same calls cost without the engine.
		if (pair[1] == "without") {
			without = $3
			sub(/\+/, "-", without)
			add($1, $2, without, "cost", pair[2])
		}
		if (pair[1] == "client_switches")
			switches = pair[2]
		if (pair[1] == "server_switches")
			add($1, $2, $3, "switches", switches + pair[2])
	}
}

function add(env, test, peer, key, value,    id)
{
	id = env " " test " " peer " " key
	samples[id, ++nr[id]] = value
}

# Sorts the samples of @id and sets median, q1 and q3. Returns how many.
function look(id,    i, j, v)
{
	for (i = 2; i <= nr[id]; i++) {
		v = samples[id, i]
		for (j = i - 1; j > 0 && samples[id, j] + 0 > v + 0; j--)
			samples[id, j + 1] = samples[id, j]
		samples[id, j + 1] = v
	}
	median = quantile(id, 0.5)
	q1 = quantile(id, 0.25)
	q3 = quantile(id, 0.75)
	return nr[id]
}

function quantile(id, q,    at, low)
{
	if (!nr[id])
		return 0
	at = 1 + (nr[id] - 1) * q
	low = int(at)
	if (low == nr[id])
		return samples[id, low]
	return samples[id, low] + (at - low) * (samples[id, low + 1] - samples[id, low])
}

function number(x)
{
	if (x >= 1000 || x == int(x))
		return sprintf("%.0f", x)
	return sprintf(x >= 100 ? "%.1f" : "%.2f", x)
}

function entry(name, value, unit, against, ratio, n, low, high)
{
	if ((name, against) in written)
		return
	written[name, against] = 1
	printf "%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"against\": %s, \"ratio\": %s, \"repetitions\": %d, \"q1\": %.6g, \"q3\": %.6g}",
		entries++ ? "," : "", name, value, unit, against == "" ? "null" : "\"" against "\"",
		ratio == "" ? "null" : sprintf("%.4f", ratio), n, low, high >json
}

# Above the next row, if there is one.
function heading(text)
{
	pending = sprintf("\n%-28s %-9s %10s %21s   %-21s %6s  %s\n", text, "", "median",
			  "quartiles", "against", "ratio", "target")
}

# One line: @key of @peer, times @scale, compared with @against's if that is
# not empty. @target begins with <, > or =.
function row(label, env, test, key, scale, unit, peer, against, target,
	     id, value, low, high, n, ratio, other, verdict)
{
	id = env " " test " "
	n = look(id peer " " key)
	if (!n)
		return
	printf "%s", pending
	pending = ""
	value = median * scale
	low = q1 * scale
	high = q3 * scale
	if (against != "" && look(id against " " key)) {
		other = number(median * scale) " " against
		ratio = median ? value / (median * scale) : 0
		entry(against "." test "." label, median * scale, unit, "", "", nr[id against " " key],
		      q1 * scale, q3 * scale)
	}
	if (target != "" && ratio != "")
		verdict = target " " judge(ratio, target)
	printf "  %-26s %-9s %10s %21s   %-21s %6s  %s\n", label, peer, number(value),
		number(low) " .. " number(high), other, ratio == "" ? "" : sprintf("%.2f", ratio),
		verdict
	entry(peer "." test "." label, value, unit, other == "" ? "" : against, ratio, n, low, high)
}

function judge(ratio, target,    met)
{
	if (target ~ /^<=/)
		met = ratio <= substr(target, 3) + 0
	else if (target ~ /^>=/)
		met = ratio >= substr(target, 3) + 0
	else	# equal, but for what a timer's interrupt does
		met = ratio <= substr(target, 2) + 0.02
	targets++
	targets_met += met
	return met ? "met" : "missed"
}

function goodput(size, text,    mib)
{
	heading(text)
	mib = 1 / 1048576
	row("MiB/s, 1 in flight", "wall", size "/1", "bytes_per_s", mib, "MiB/s", "mrpc-tcp", "bare-tcp")
	row("MiB/s, 1 in flight", "wall", size "/1", "bytes_per_s", mib, "MiB/s", "mrpc-loop", "bare-tcp")
	row("MiB/s, 16 in flight", "wall", size "/16", "bytes_per_s", mib, "MiB/s", "mrpc-tcp", "bare-tcp")
	row("MiB/s, 16 in flight", "wall", size "/16", "bytes_per_s", mib, "MiB/s", "mrpc-tcp", "bulk-tcp",
	    size == 1048576 ? ">=0.7" : "")
	row("MiB/s, 16 in flight", "wall", size "/16", "bytes_per_s", mib, "MiB/s", "mrpc-loop", "bulk-tcp")
	row("instructions, 16 in flight", "count", size "/16", "cost", 1, "instructions", "mrpc-tcp", "bare-tcp")
	row("instructions, 16 in flight", "count", size "/16", "cost", 1, "instructions", "mrpc-tcp", "bulk-tcp")
	row("instructions, 16 in flight", "count", size "/16", "cost", 1, "instructions", "mrpc-loop", "bulk-tcp")
}

# Instructions of a call with an engine against those without, and how many that is more.
function engine(label, name, target)
{
	row(label, "count", "64/1", "cost", 1, "instructions", "mrpc-tcp+" name, "mrpc-tcp-" name, target)
	row("more", "count", "64/1", "more", 1, "instructions", "mrpc-tcp+" name)
}

function copies(    kib, copy, reference, header, from)
{
	for (kib = 1; kib <= 256; kib *= 2) {
		if (!look("copy " kib * 1024 "/1 mrpc-tcp cost"))
			continue
		if (!header++)
			printf "\n%-28s %19s %21s %8s\n", "copy or reference (tcp)", "copied",
				"by reference", "ratio"
		copy = median
		entry("copy." kib * 1024 ".instructions", median, "instructions", "", "", 1, q1, q3)
		look("reference " kib * 1024 "/1 mrpc-tcp cost")
		reference = median
		entry("reference." kib * 1024 ".instructions", median, "instructions", "copy",
		      reference / copy, 1, q1, q3)
		if (reference >= copy)
			from = 2 * kib
		printf "  %4d KiB, instructions %24s %21s %8.2f\n", kib, number(copy),
			number(reference), reference / copy
	}
	if (!header)
		return
	look("copy default mrpc-tcp threshold")
	printf "  By reference costs less from %d KiB on; the default of copy_threshold is %g KiB.\n",
		from, median / 1024
	print "  A byte that the kernel's memcpy moves counts as 0.4 instructions, one that goes"
	print "  from or to user memory as 0.13: on real processors they cost about the same."
}

END {
	printf "[" >json
	heading("64 B and 8 B, 1 in flight")
	row("instructions", "count", "64/1", "cost", 1, "instructions", "mrpc-tcp", "bare-tcp", "<=1.6")
	row("instructions", "count", "64/1", "cost", 1, "instructions", "mrpc-loop", "unix")
	row("context switches", "count", "64/1", "switches", 1, "switches", "mrpc-tcp", "bare-tcp", "=1")
	row("context switches", "count", "64/1", "switches", 1, "switches", "mrpc-loop", "unix")
	row("context switches, 2 CPUs", "wall", "64/1", "switches", 1, "switches", "mrpc-tcp", "bare-tcp")
	row("system calls", "count", "64/1", "syscalls", 1, "calls", "mrpc-tcp", "bare-tcp")
	row("system calls", "count", "64/1", "syscalls", 1, "calls", "mrpc-loop", "unix")
	row("median, us", "wall", "64/1", "median_ns", 0.001, "us", "mrpc-tcp", "bare-tcp", "<=1.5")
	row("median, us", "wall", "64/1", "median_ns", 0.001, "us", "mrpc-loop", "unix")
	row("P99, us", "wall", "64/1", "p99_ns", 0.001, "us", "mrpc-tcp", "bare-tcp")
	row("P99, us", "wall", "64/1", "p99_ns", 0.001, "us", "mrpc-loop", "unix")
	heading("32 B and 8 B, 128 in flight")
	row("calls/s", "wall", "32/128", "rate", 1, "1/s", "mrpc-tcp", "bare-tcp")
	row("calls/s", "wall", "32/128", "rate", 1, "1/s", "mrpc-loop", "unix")
	row("instructions", "count", "32/128", "cost", 1, "instructions", "mrpc-tcp", "bare-tcp")
	row("instructions", "count", "32/128", "cost", 1, "instructions", "mrpc-loop", "unix")
	heading("an engine at the client, 64 B and 8 B, 1 in flight")
	engine("none", "none")
	engine("null", "null", "<=1.01")
	engine("ratelimit, unlimited", "ratelimit", "<=1.01")
	engine("acl, text in 100,000", "acl", "<=1.04")
	engine("bpf, empty", "bpf_empty")
	engine("bpf, text in 100,000", "bpf_acl")
	engine("metrics", "metrics")
	goodput(8192, "8 KiB and 8 B")
	goodput(131072, "128 KiB and 8 B")
	goodput(1048576, "1 MiB and 8 B")
	heading("binding a schema")
	row("first time, us", "wall", "bind", "miss_ns", 0.001, "us", "mrpc", "")
	row("again, us", "wall", "bind", "hit_ns", 0.001, "us", "mrpc", "")
	copies()
	print "\n]" >json
	printf "\n%d of %d targets met\n", targets_met, targets
}
