# SPDX-License-Identifier: GPL-2.0
#
# Makes the table of what stats.awk has read.

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

# One line for each transport, against what it is built on or the host has instead of it.
function transports(label, env, test, key, scale, unit, target)
{
	row(label, env, test, key, scale, unit, "mrpc-tcp", "bare-tcp", target)
	row(label, env, test, key, scale, unit, "mrpc-prio", "bare-tcp")
	row(label, env, test, key, scale, unit, "mrpc-loop", "unix")
}

function judge(ratio, target)
{
	targets++
	targets_met += met(ratio, target)
	return met(ratio, target) ? "met" : "missed"
}

function goodput(size, text,    mib)
{
	heading(text)
	mib = 1 / 1048576
	row("MiB/s, 1 in flight", "wall", size "/1", "bytes_per_s", mib, "MiB/s", "mrpc-tcp", "bare-tcp")
	row("MiB/s, 1 in flight", "wall", size "/1", "bytes_per_s", mib, "MiB/s", "mrpc-prio", "bare-tcp")
	row("MiB/s, 1 in flight", "wall", size "/1", "bytes_per_s", mib, "MiB/s", "mrpc-loop", "bare-tcp")
	row("MiB/s, 16 in flight", "wall", size "/16", "bytes_per_s", mib, "MiB/s", "mrpc-tcp", "bare-tcp")
	row("MiB/s, 16 in flight", "wall", size "/16", "bytes_per_s", mib, "MiB/s", "mrpc-prio", "bare-tcp")
	row("MiB/s, 16 in flight", "wall", size "/16", "bytes_per_s", mib, "MiB/s", "mrpc-tcp", "bulk-tcp",
	    size == 1048576 ? ">=0.7" : "")
	row("MiB/s, 16 in flight", "wall", size "/16", "bytes_per_s", mib, "MiB/s", "mrpc-loop", "bulk-tcp")
	row("instructions, 16 in flight", "count", size "/16", "cost", 1, "instructions", "mrpc-tcp", "bare-tcp")
	row("instructions, 16 in flight", "count", size "/16", "cost", 1, "instructions", "mrpc-prio", "bare-tcp")
	row("instructions, 16 in flight", "count", size "/16", "cost", 1, "instructions", "mrpc-tcp", "bulk-tcp")
	row("instructions, 16 in flight", "count", size "/16", "cost", 1, "instructions", "mrpc-loop", "bulk-tcp")
}

# Many connections, each used in its turn.
function connections_rows(    conns)
{
	heading("32 B and 8 B, 128 in flight, by connections")
	for (conns = 16; conns <= 10000; conns = conns == 16 ? 1000 : conns * 10) {
		row("instructions, " conns, "count", "32/128/1/" conns, "cost", 1, "instructions", "mrpc-tcp",
		    "bare-events")
		row("calls/s, " conns, "wall", "32/128/1/" conns, "rate", 1, "1/s", "mrpc-tcp", "bare-events")
	}
}

# An urgent call, with ranks and over prio, against one over TCP without.
function urgent_rows()
{
	heading("32 B beside bulk, 50 Mbit/s")
	row("median, ms", "wall", "urgent", "median_ns", 0.000001, "ms", "mrpc-tcp+ranks", "mrpc-tcp")
	row("median, ms", "wall", "urgent", "median_ns", 0.000001, "ms", "mrpc-prio", "mrpc-tcp")
	row("P99, ms", "wall", "urgent", "p99_ns", 0.000001, "ms", "mrpc-tcp+ranks", "mrpc-tcp", "<=0.4")
	row("P99, ms", "wall", "urgent", "p99_ns", 0.000001, "ms", "mrpc-prio", "mrpc-tcp")
	row("bulk, MiB/s", "wall", "urgent", "bulk_bytes_per_s", 1 / 1048576, "MiB/s", "mrpc-tcp+ranks",
	    "mrpc-tcp", ">=0.95")
	row("bulk, MiB/s", "wall", "urgent", "bulk_bytes_per_s", 1 / 1048576, "MiB/s", "mrpc-prio", "mrpc-tcp")
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
}

END {
	heading("64 B and 8 B, 1 in flight")
	transports("instructions", "count", "64/1", "cost", 1, "instructions", "<=1.15")
	transports("context switches", "count", "64/1", "switches", 1, "switches", "=1")
	row("context switches, 2 CPUs", "wall", "64/1", "switches", 1, "switches", "mrpc-tcp", "bare-tcp")
	row("context switches, 2 CPUs", "wall", "64/1", "switches", 1, "switches", "mrpc-prio", "bare-tcp")
	transports("system calls", "count", "64/1", "syscalls", 1, "calls")
	transports("median, us", "wall", "64/1", "median_ns", 0.001, "us", "<=1.2")
	transports("P99, us", "wall", "64/1", "p99_ns", 0.001, "us")
	heading("32 B and 8 B, 128 in flight")
	transports("calls/s", "wall", "32/128", "rate", 1, "1/s")
	transports("instructions", "count", "32/128", "cost", 1, "instructions")
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
	connections_rows()
	urgent_rows()
	heading("a new connection and its first call")
	transports("median, us", "wall", "connect", "median_ns", 0.001, "us")
	heading("memory of an idle connection")
	row("KiB at each end", "wall", "idle", "idle_bytes", 1 / 1024, "KiB", "mrpc-tcp", "bare-hold")
	heading("binding a schema")
	row("first time, us", "wall", "bind", "miss_ns", 0.001, "us", "mrpc", "")
	row("again, us", "wall", "bind", "hit_ns", 0.001, "us", "mrpc", "")
	copies()
	printf "\n%d of %d targets met\n", targets_met, targets
}
