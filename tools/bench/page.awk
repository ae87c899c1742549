# SPDX-License-Identifier: GPL-2.0
#
# Makes a page in reStructuredText of what stats.awk has read: to the file that variable page
# names. What file about says, in lines "KEY TEXT", is on the page, and the proxies'
# configurations in directory configs. Its plots are drawn by plots.awk.

function out(text)
{
	print text >page
}

function title(text, under,    line)
{
	line = text
	gsub(/./, under, line)
	out("")
	out(text)
	out(line)
	out("")
}

# -- peers -----------------------------------------------------------------------------

function name_peers(    hue, i)
{
	name["bare-tcp"] = "bare TCP"
	name["bare-tcp-busy"] = "bare TCP, looking"
	name["bare-udp"] = "bare UDP"
	name["bulk-tcp"] = "bulk TCP stream"
	name["bare-hold"] = "bare TCP"
	name["bare-events"] = "bare TCP, epoll"
	name["unix"] = "Unix socket"
	name["mrpc-tcp"] = "mrpc"
	name["mrpc-tcp+null"] = "mrpc, null engine"
	name["mrpc-tcp+ratelimit,acl"] = "mrpc, ratelimit and acl"
	name["mrpc-tcp+bpf_acl"] = "mrpc, a BPF policy"
	name["mrpc-tcp+ranks"] = "mrpc, ranks"
	name["mrpc-prio"] = "mrpc, prio"
	name["mrpc-loop"] = "mrpc, loop"
	name["mrpc-tcp-busy"] = "mrpc, looking"
	name["mrpc-loop-busy"] = "mrpc, loop, looking"
	name["mrpc-grpc"] = "mrpc, grpc"
	name["mrpc-tcp-tls"] = "mrpc, TLS"
	name["mrpc-grpc-tls"] = "mrpc, grpc, TLS"
	name["mrpc-at-grpc-sync"] = "mrpc at a gRPC server (sync)"
	name["mrpc-at-grpc-async"] = "mrpc at a gRPC server (async)"
	name["grpc-at-mrpc"] = "gRPC at an mrpc server"
	name["grpc-tls"] = "gRPC, TLS"
	name["thrift"] = "Thrift"
	name["capnp"] = "Cap'n Proto"
	name["grpc"] = "gRPC"
	name["grpc-unix"] = "gRPC, Unix socket"
	name["grpc-haproxy"] = "gRPC, two HAProxy"
	name["grpc-nginx"] = "gRPC, two nginx"
	split("bare-tcp #000000 bare-udp #7f7f7f bulk-tcp #bcbd22 unix #8c564b mrpc-tcp #d62728 " \
	      "mrpc-tcp+null #ff9896 mrpc-tcp+ratelimit,acl #ff7f0e mrpc-tcp+bpf_acl #e7ba52 " \
	      "mrpc-prio #7b2d26 mrpc-loop #e377c2 thrift #2ca02c " \
	      "capnp #17becf grpc #1f77b4 grpc-unix #aec7e8 grpc-haproxy #9467bd grpc-nginx #c5b0d5", hue, " ")
	for (i = 1; i in hue; i += 2)
		colour[hue[i]] = hue[i + 1]
	hosts = "bare-tcp bare-udp mrpc-tcp mrpc-prio mrpc-tcp+null mrpc-tcp+ratelimit,acl mrpc-tcp+bpf_acl " \
		"thrift capnp grpc grpc-haproxy grpc-nginx"
	host = "unix mrpc-loop grpc-unix"
	busy = "bare-tcp-busy mrpc-tcp-busy mrpc-loop-busy"
}

# gRPC has two interfaces: the one whose median is better is what it is measured by.
function best(env, test, key, peer,    sync, async)
{
	if (peer !~ /^grpc/)
		return peer
	sync = look(env " " test " " peer "-sync " key) ? median : -1
	async = look(env " " test " " peer "-async " key) ? median : -1
	if (sync < 0 || async < 0)
		return peer (sync < 0 ? "-async" : "-sync")
	return peer (((key ~ /rate|bytes_per_s/) == (sync > async)) ? "-sync" : "-async")
}

function seen(env, test, key, peer)
{
	return nr[env " " test " " best(env, test, key, peer) " " key]
}

# Sets median, q1 and q3 of what stands for @peer. Returns how many there are.
function figure(env, test, key, peer)
{
	return look(env " " test " " best(env, test, key, peer) " " key)
}

function called(env, test, key, peer,    variant)
{
	variant = best(env, test, key, peer)
	if (peer ~ /^grpc/ && nr[env " " test " " peer "-sync " key])
		return name[peer] " (" substr(variant, length(peer) + 2) ")"
	return name[peer]
}

# The footnote that times and instructions of these peers need where they are emulated.
function footnote(peers)
{
	return peers ~ /grpc|thrift|capnp/ && emulated ? " [#emulated]_" : ""
}

function ratio_text(ratio, peer, key)
{
	return sprintf("%.2f", ratio) (key ~ /idle_bytes|syscalls|switches/ ? "" : footnote(peer))
}

# -- tables ----------------------------------------------------------------------------

function table(caption, widths, nr_heads, heads,    i)
{
	out(".. list-table:: " caption)
	out("   :header-rows: 1")
	out("   :widths: " widths)
	out("")
	for (i = 1; i <= nr_heads; i++)
		out((i == 1 ? "   * - " : "     - ") heads[i])
}

function cells(text, n,    i, cell)
{
	n = split(text, cell, "|")
	for (i = 1; i <= n; i++)
		out((i == 1 ? "   * - " : "     - ") cell[i])
}

# One row for each of @peers: median, quartiles and the ratios to bare TCP, or what @base is,
# and to @mrpc.
function peers_table(caption, env, test, key, scale, unit, peers, base, mrpc,
		     list, i, n, heads, against, ours, label, runs, variant)
{
	if (!figure(env, test, key, mrpc))
		return
	ours = median
	against = figure(env, test, key, base) ? median : 0
	split("peer|median|quartiles|/ " name[base] "|/ mrpc|runs", heads, "|")
	table(caption, "30 14 24 14 14 8", 6, heads)
	n = split(peers, list, " ")
	for (i = 1; i <= n; i++) {
		variant = best(env, test, key, list[i])
		label = called(env, test, key, list[i])
		runs = figure(env, test, key, list[i])
		if (!runs)
			continue
		cells(label "|" number(median * scale) "|" number(q1 * scale) " .. " number(q3 * scale) "|" \
		      (against ? ratio_text(median / against, list[i], key) : "") "|" \
		      ratio_text(median / ours, list[i], key) "|" runs)
		entry(variant "." test "." env "." key, median * scale, unit, base,
		      against ? median / against : "", runs, q1 * scale, q3 * scale)
	}
	out("")
}

# -- targets ---------------------------------------------------------------------------

# @over's median divided by @under's; the range is of their quartiles.
function goal(label, env, test, key, over, under, wanted, paper,    low, high, m, runs, others)
{
	runs = figure(env, test, key, over)
	if (!runs)
		return
	m = median; low = q1; high = q3
	others = figure(env, test, key, under)
	if (!others || !median)
		return
	verdict(label, wanted, m / median, "ratio", runs < others ? runs : others, q3 ? low / q3 : 0,
		q1 ? high / q1 : 0, paper, over under)
}

# @low and @high are empty where there is no spread.
function verdict(label, wanted, value, unit, runs, low, high, paper, peers,    shown, spread)
{
	shown = wanted
	sub(/^<=/, "at most ", shown)
	sub(/^>=/, "at least ", shown)
	sub(/^=/, "", shown)
	if (low != "")
		spread = unit == "ratio" ? sprintf("%.2f .. %.2f", low, high) : number(low) " .. " number(high)
	cells(label "|" shown "|" number(value) footnote(peers) "|" spread "|" \
	      (met(value, wanted) ? "met" : "**missed**") "|" paper)
	entry("target." label, value, unit, "", "", runs, low, high)
}

# Of all samples.
function total(id,    i, sum)
{
	for (i = 1; i <= nr[id]; i++)
		sum += samples[id, i]
	return sum + 0
}

# The faster of the two kinds of sidecars.
function sidecars(env, test, key,    other)
{
	if (!seen(env, test, key, "grpc-nginx"))
		return "grpc-haproxy"
	figure(env, test, key, "grpc-nginx")
	other = median
	return figure(env, test, key, "grpc-haproxy") && median < other ? "grpc-haproxy" : "grpc-nginx"
}

# The rate over many connections by that over 16, as what instructions allow.
function many_goal(    few, many, runs)
{
	if (!figure("count", "32/128/1/16", "cost", "mrpc-tcp"))
		return
	few = median
	for (many = 10000; many >= 1000; many /= 10)
		if ((runs = figure("count", "32/128/1/" many, "cost", "mrpc-tcp"))) {
			verdict("rate at " thousands(many) " connections / at 16", ">=0.9", few / median,
				"ratio", runs, few / q3, few / q1, "", "")
			return
		}
}

function thousands(n)
{
	return n < 1000 ? n "" : int(n / 1000) "," substr(n, length(n) - 2)
}

# Urgent calls that go first, and what they leave of the bulk.
# One message of a stream, beside a call over the same transport.
function stream_goals(    list, n, i)
{
	n = split("mrpc-tcp 0.4 mrpc-loop 0.4 mrpc-prio 0.4 mrpc-grpc 0.5", list, " ")
	for (i = 1; i < n; i += 2) {
		stream_goal(list[i], "chat-16", 2, list[i + 1], "both ways, 16 in flight")
		stream_goal(list[i], "collect-more", 1, list[i + 1], "one way, told that more follow")
		stream_goal(list[i], "collect", 1, list[i + 1], "one way, each by itself")
	}
}

function stream_goal(peer, test, messages, limit, text,    call, runs)
{
	if (!figure("count", "64/1", "cost", peer))
		return
	call = median * messages
	if ((runs = figure("count", test, "cost", peer)))
		verdict("a message of a stream / a call, " name[peer] ", " text, "<=" limit, median / call,
			"ratio", runs, q1 / call, q3 / call, "", "")
}

function urgent_goals()
{
	goal("P99 of an urgent call beside bulk, in time, without ranks / with", "wall", "urgent", "p99_ns",
	     "mrpc-tcp", "mrpc-tcp+ranks", ">=2.5", "")
	goal("bandwidth of the bulk, with ranks / without", "wall", "urgent", "bulk_bytes_per_s",
	     "mrpc-tcp+ranks", "mrpc-tcp", ">=0.95", "")
}

function targets_table(    heads, tcp, runs)
{
	title("Targets", "=")
	out("Instructions, unless it says otherwise; \"paper\" is what mRPC is reported with, in time, in")
	out("Chen et al., NSDI 2023. Goodput for instructions is their inverse. The spread is of the quartiles.")
	out("")
	split("figure|target|measured|spread|verdict|paper", heads, "|")
	table("Targets", "40 14 14 18 10 8", 6, heads)
	goal("64 B, 1 in flight / bare TCP", "count", "64/1", "cost", "mrpc-tcp", "bare-tcp", "<=1.15", "1.56")
	goal("median time / bare TCP", "wall", "64/1", "median_ns", "mrpc-tcp", "bare-tcp", "<=1.2", "1.56")
	goal("the same, both looking instead of sleeping", "wall", "64/1", "median_ns", "mrpc-tcp-busy", "bare-tcp-busy",
	     "<=1.2", "1.56")
	goal("P99 / bare TCP", "wall", "64/1", "p99_ns", "mrpc-tcp", "bare-tcp", "<=1.5", "1.2")
	goal("with a null engine / without", "count", "64/1", "cost", "mrpc-tcp+null", "mrpc-tcp-null", "<=1.01", "1.02")
	goal("gRPC / mrpc", "count", "64/1", "cost", "grpc", "mrpc-tcp", ">=4.3", "1.9")
	goal("gRPC with two sidecars / mrpc with ratelimit and acl", "count", "64/1", "cost",
	       sidecars("count", "64/1", "cost"), "mrpc-tcp+ratelimit,acl", ">=12", "6.1")
	if ((runs = figure("count", "32/128", "cost", "mrpc-tcp")))
		verdict("32 B, 128 in flight, per call", "<=6000", median, "instructions", runs, q1, q3, "", "")
	goal("32 B, 128 in flight, Thrift / mrpc", "count", "32/128", "cost", "thrift", "mrpc-tcp", ">=6", "")
	goal("32 B, 128 in flight, gRPC / mrpc", "count", "32/128", "cost", "grpc", "mrpc-tcp", ">=20", "")
	goal("goodput 8 KiB, 16 in flight / gRPC", "count", "8192/16", "cost", "grpc", "mrpc-tcp", ">=3", "")
	goal("goodput 8 KiB, 16 in flight / gRPC with two sidecars", "count", "8192/16", "cost",
	       sidecars("count", "8192/16", "cost"), "mrpc-tcp", ">=8", "3.1")
	goal("goodput 1 MiB, 16 in flight / bulk TCP stream", "count", "1048576/16", "cost", "bulk-tcp",
	       "mrpc-tcp", ">=0.9", "")
	goal("the same in time, 64 in flight", "wall", "1048576/64", "bytes_per_s", "mrpc-tcp", "bulk-tcp",
	       ">=0.9", "")
	goal("loop / Unix socket", "count", "64/1", "cost", "mrpc-loop", "unix", "<=1", "")
	if (figure("wall", "idle", "idle_bytes", "bare-hold")) {
		tcp = median
		if ((runs = figure("wall", "idle", "idle_bytes", "mrpc-tcp")))
			verdict("idle connection beyond bare TCP's, bytes at each end", "<=2048", median - tcp,
				"bytes", runs, q1 - tcp, q3 - tcp, "", "")
	}
	many_goal()
	stream_goals()
	urgent_goals()
	if ((runs = seen("wall", "timeline", "lost", "mrpc-tcp+changes")))
		verdict("calls lost or ended twice under live changes", "=0",
			total("wall timeline mrpc-tcp+changes lost") + total("wall timeline mrpc-tcp+changes twice"),
			"calls", runs, "", "", "", "")
	goal("context switches / bare TCP", "count", "64/1", "switches", "mrpc-tcp", "bare-tcp", "=1", "")
	# They are counted for the whole machine, which makes one in a hundred calls itself.
	if ((runs = figure("count", "64/1", "syscalls", "mrpc-tcp")))
		verdict("system calls of a call, both ends", "<=2", sprintf("%.1f", median) + 0, "calls",
			runs, "", "", "", "")
	out("")
	out("Not measured by this command: the hotel reservation application (``make hotel``), and copies,")
	out("allocations and atomic instructions of a call, which ``tools/bench/profile`` counts (performance.rst).")
}

# -- sections --------------------------------------------------------------------------

function calls()
{
	title("One call at a time", "=")
	out("64 bytes there and 8 back.")
	out("")
	plot_bars("instructions", "Instructions of a call, 64 B and 8 B, 1 in flight", "instructions",
		  "count", "64/1", "cost", "", 1, hosts " " host, "set yrange [0:*]")
	peers_table("Instructions of a call, both ends and what is between them", "count", "64/1", "cost", 1,
		    "instructions", hosts, "bare-tcp", "mrpc-tcp")
	peers_table("The same within one host", "count", "64/1", "cost", 1, "instructions", host, "unix", "mrpc-loop")
	peers_table("System calls of the client and the server, counted in one run", "count", "64/1", "syscalls", 1, "calls",
		    hosts " " host, "bare-tcp", "mrpc-tcp")
	peers_table("Context switches of the client and the server", "count", "64/1", "switches", 1,
		    "switches", hosts " " host, "bare-tcp", "mrpc-tcp")
	plot_bars("latency", "Time of a call, 64 B and 8 B, 1 in flight", "us", "wall", "64/1",
		  "median_ns", "p99_ns", 0.001, hosts " " host, "set logscale y")
	peers_table("Median time, us", "wall", "64/1", "median_ns", 0.001, "us", hosts, "bare-tcp", "mrpc-tcp")
	peers_table("P99, us", "wall", "64/1", "p99_ns", 0.001, "us", hosts, "bare-tcp", "mrpc-tcp")
	out("Spinning: a waiting thread does not sleep, so it needs no wake-up. mrpc uses its parameter busy_poll,")
	out("bare TCP calls recv with MSG_DONTWAIT repeatedly. Each end has a processor of its own for that.")
	out("")
	peers_table("Median time with spinning, us", "wall", "64/1", "median_ns", 0.001, "us", busy, "bare-tcp-busy",
		    "mrpc-tcp-busy")
	peers_table("P99 with spinning, us", "wall", "64/1", "p99_ns", 0.001, "us", busy, "bare-tcp-busy", "mrpc-tcp-busy")
	peers_table("Median time within one host, us", "wall", "64/1", "median_ns", 0.001, "us", host, "unix", "mrpc-loop")
	peers_table("P99 within one host, us", "wall", "64/1", "p99_ns", 0.001, "us", host, "unix", "mrpc-loop")
	peers_table("CPU seconds of a million calls, of the whole machine", "wall", "64/1", "busy_us", 1, "s",
		    hosts, "bare-tcp", "mrpc-tcp")
}

function rates(    threads, test)
{
	title("Many calls at a time", "=")
	out("32 bytes there and 8 back, 128 in flight for each client thread, each with a connection. Servers")
	out("have as many threads. bare TCP and Thrift send each request by itself, and its replies come in order.")
	out("")
	peers_table("Instructions of a call", "count", "32/128", "cost", 1, "instructions", hosts " " host,
		    "bare-tcp", "mrpc-tcp")
	plot_lines("rate", "Calls per second, 32 B, 128 in flight for each thread", "threads", "calls/s",
		   "set xrange [0.8:4.2]\nset xtics (1, 2, 4)\nset logscale y", "rate", 1, hosts " " host, "1=32/128 2=32/128/2 4=32/128/4")
	for (threads = 1; threads <= 4; threads *= 2) {
		test = "32/128" (threads > 1 ? "/" threads : "")
		peers_table("Calls per second, " threads (threads > 1 ? " threads" : " thread"), "wall", test, "rate", 1,
			    "1/s", hosts " " host, "bare-tcp", "mrpc-tcp")
	}
	many_connections()
	peers_table("CPU seconds of a million calls, 1 thread", "wall", "32/128", "busy_us", 1, "s", hosts " " host,
		    "bare-tcp", "mrpc-tcp")
}

# What each call costs, and how many there are, when those of one thread take many connections
# in turn; beside bare TCP, whose packets are as many.
function many_connections(    heads, list, peers, n, p, i)
{
	if (!figure("count", "32/128/1/16", "cost", "mrpc-tcp"))
		return
	split("connections|instructions of a call|quartiles|rate by them / at 16|calls/s|quartiles|runs",
	      heads, "|")
	table("32 B, 128 in flight, over several connections in turn", "24 14 20 12 12 20 6", 7, heads)
	n = split("16 1000 10000", list, " ")
	split("bare-events mrpc-tcp", peers, " ")
	for (p = 1; p <= 2; p++)
		for (i = 1; i <= n; i++)
			connections_row(peers[p], list[i])
	out("")
	out("With few connections a packet takes several messages; with many each message has its own packet,")
	out("and acknowledgement. bare TCP has one thread and epoll at each end here, and answers in one system call what")
	out("it has read of a connection.")
	out("")
}

function connections_row(peer, conns,    test, few, line)
{
	test = "32/128/1/" conns
	few = figure("count", "32/128/1/16", "cost", peer) ? median : 0
	if (!figure("count", test, "cost", peer))
		return
	line = conns ", " name[peer] "|" number(median) "|" number(q1) " .. " number(q3) "|" \
		(few ? sprintf("%.2f", few / median) : "")
	entry(peer "." test ".count.cost", median, "instructions", "", "", nr["count " test " " peer " cost"], q1, q3)
	if (figure("wall", test, "rate", peer)) {
		line = line "|" number(median) "|" number(q1) " .. " number(q3) "|" nr["wall " test " " peer " rate"]
		entry(peer "." test ".wall.rate", median, "1/s", "", "", nr["wall " test " " peer " rate"], q1, q3)
	} else {
		line = line "|||"
	}
	cells(line)
}

function size_text(size)
{
	return size >= 1048576 ? size / 1048576 " MiB" : size / 1024 " KiB"
}

function goodputs(    size, many, one_tests, many_tests, peers, mib, tics, how)
{
	mib = 1 / 1048576
	peers = "bare-tcp bulk-tcp mrpc-tcp mrpc-prio mrpc-loop thrift capnp grpc grpc-haproxy grpc-nginx"
	title("Goodput", "=")
	out("Bytes of requests; replies have 8 bytes. With many in flight there are 128, or as many as 64 MiB hold.")
	out("gRPC through nginx is not measured in time here.")
	out("")
	for (size = 2048; size <= 8388608; size *= 2) {
		many = 67108864 / size < 128 ? 67108864 / size : 128
		tics = tics (tics == "" ? "" : ", ") "\"" size_text(size) "\" " size
		one_tests = one_tests " " size "=" size "/1"
		many_tests = many_tests " " size "=" size "/" many
	}
	how = "set logscale x 2\nset logscale y\nset xtics rotate by -35 (" tics ")"
	plot_lines("goodput-one", "Goodput with 1 in flight", "request", "MiB/s",
		   how, "bytes_per_s", mib, peers, one_tests)
	plot_lines("goodput-many", "Goodput with many in flight", "request", "MiB/s",
		   how, "bytes_per_s", mib, peers, many_tests)
	for (size = 2048; size <= 8388608; size *= 2) {
		many = 67108864 / size < 128 ? 67108864 / size : 128
		peers_table(size_text(size) ", 1 in flight, MiB/s", "wall", size "/1", "bytes_per_s", mib, "MiB/s",
			    peers, "bare-tcp", "mrpc-tcp")
		peers_table(size_text(size) ", " many " in flight, MiB/s", "wall", size "/" many, "bytes_per_s", mib,
			    "MiB/s", peers, "bare-tcp", "mrpc-tcp")
		peers_table(size_text(size) ", 16 in flight, instructions of a call", "count", size "/16", "cost", 1,
			    "instructions", peers, "bare-tcp", "mrpc-tcp")
	}
}

function engines(    heads, list, n, i, line, with)
{
	if (!seen("count", "64/1", "cost", "mrpc-tcp+none"))
		return
	title("Engines and policies", "=")
	out("An engine at the client comes and goes while calls of one connection are counted: what it costs more.")
	out("acl and bpf_acl look a text up among 100,000; ratelimit is unlimited. Policies in BPF are bpf_empty, which")
	out("lets everything pass, and bpf_acl, which does what acl does.")
	out("")
	split("engine|instructions more|quartiles|with / without", heads, "|")
	table("Engines and policies, 64 B and 8 B, 1 in flight", "30 20 30 20", 4, heads)
	n = split("none null ratelimit acl ratelimit,acl metrics bpf_empty bpf_acl", list, " ")
	for (i = 1; i <= n; i++) {
		if (!figure("count", "64/1", "more", "mrpc-tcp+" list[i]))
			continue
		line = list[i] "|" number(median) "|" number(q1) " .. " number(q3)
		figure("count", "64/1", "cost", "mrpc-tcp+" list[i])
		with = median
		figure("count", "64/1", "cost", "mrpc-tcp-" list[i])
		cells(line "|" sprintf("%.3f", with / median))
	}
	out("")
}

# Messages of a stream; each row's ratio is that to a call of the same peer.
function streams_table(caption, test, messages,    heads, list, n, i, runs, cost, low, high, call)
{
	split("peer|instructions of a message|quartiles|/ its call|/ gRPC|runs", heads, "|")
	table(caption, "34 14 20 12 12 8", 6, heads)
	n = split("mrpc-tcp mrpc-loop mrpc-prio mrpc-grpc mrpc-at-grpc-sync grpc-at-mrpc grpc", list, " ")
	for (i = 1; i <= n; i++) {
		if (!(runs = figure("count", test, "cost", list[i])))
			continue
		cost = median / messages
		low = q1 / messages
		high = q3 / messages
		entry(list[i] "." test ".count.cost", cost, "instructions", "", "", runs, low, high)
		call = figure("count", "64/1", "cost", list[i]) ? median : 0
		cells(name[list[i]] "|" number(cost) "|" number(low) " .. " number(high) "|" \
		      (call ? sprintf("%.2f", cost / call) : "") "|" \
		      stock_ratio(test, cost * messages) "|" runs)
	}
	out("")
}

function stock_ratio(test, cost)
{
	return figure("count", test, "cost", "grpc") ? sprintf("%.2f", cost / median) footnote("grpc") : ""
}

# What TLS adds: each peer beside itself without.
function tls_table(test, caption,    heads, list, n, i, runs, with, low, high)
{
	split("peer|instructions of a call|quartiles|/ without TLS|runs", heads, "|")
	if (!seen("count", test, "cost", "mrpc-tcp-tls"))
		return
	table(caption, "34 16 24 16 10", 5, heads)
	n = split("mrpc-tcp mrpc-grpc grpc", list, " ")
	for (i = 1; i <= n; i++) {
		if (!(runs = figure("count", test, "cost", list[i] "-tls")))
			continue
		with = median
		low = q1
		high = q3
		if (!figure("count", test, "cost", list[i]))
			continue
		entry(list[i] "-tls." test ".count.cost", with, "instructions", list[i], with / median, runs,
		      low, high)
		cells(name[list[i] "-tls"] "|" number(with) "|" number(low) " .. " number(high) "|" \
		      sprintf("%.2f", with / median) "|" runs)
	}
	out("")
}

function streams(    peers)
{
	if (!seen("count", "collect", "cost", "mrpc-tcp"))
		return
	title("Streams, gRPC at one end, and TLS", "=")
	out("Messages of 64 bytes of one stream. With both ways each is answered by one of 8 bytes, and both count;")
	out("mrpc submits a message together with the wait for the next one. With one way they are only read.")
	out("\"More follow\" is MRPC_STREAM_MORE, and the buffer hint in gRPC. gRPC is synchronous.")
	out("")
	streams_table("Both ways, 1 in flight", "chat-1", 2)
	streams_table("Both ways, 16 in flight", "chat-16", 2)
	streams_table("One way, each by itself", "collect", 1)
	streams_table("One way, more follow", "collect-more", 1)
	peers = "mrpc-grpc mrpc-at-grpc-sync mrpc-at-grpc-async grpc-at-mrpc grpc"
	peers_table("Calls over gRPC's wire, 64 B and 8 B, 1 in flight", "count", "64/1", "cost", 1, "instructions",
		    peers, "grpc", "mrpc-grpc")
	peers_table("Calls over gRPC's wire, 32 B and 8 B, 128 in flight", "count", "32/128", "cost", 1,
		    "instructions", peers, "grpc", "mrpc-grpc")
	tls_table("64/1", "Calls with TLS, 64 B and 8 B, 1 in flight")
	tls_table("8192/16", "Calls with TLS, 8 KiB and 8 B, 16 in flight")
}

# How many connections of each of @peers there were: of all but those in brackets.
function idle_numbers(peers,    list, n, i, most, text)
{
	n = split(peers, list, " ")
	for (i = 1; i <= n; i++)
		if (figure("wall", "idle", "connections", list[i]) && median > most)
			most = median
	for (i = 1; i <= n; i++)
		if (figure("wall", "idle", "connections", list[i]) && median < most)
			text = text (text == "" ? " (" : ", ") name[list[i]] " " thousands(median)
	return thousands(most + 0) " connections" text (text == "" ? "" : ")")
}

function connections(    peers)
{
	title("Connections", "=")
	peers_table("A new connection and its first call, median, us", "wall", "connect", "median_ns", 0.001, "us",
		    "bare-tcp mrpc-tcp mrpc-prio thrift capnp grpc unix mrpc-loop", "bare-tcp", "mrpc-tcp")
	peers = "bare-hold mrpc-tcp grpc"
	peers_table("Memory of an idle connection, bytes at each end; " idle_numbers(peers), "wall", "idle",
		    "idle_bytes", 1, "bytes", peers, "bare-hold", "mrpc-tcp")
	if (look("wall bind mrpc miss_ns")) {
		out("Binding a schema takes " number(median / 1000) " us the first time (quartiles " \
		    number(q1 / 1000) " .. " number(q3 / 1000) ")")
		look("wall bind mrpc hit_ns")
		out("and " number(median / 1000) " us (" number(q1 / 1000) " .. " number(q3 / 1000) \
		    ") when another session has bound it.")
	}
}

function settings_section(    list, n, i)
{
	title("Settings", "=")
	out("Settings that differ from a library's defaults, and the way in which it is used. For gRPC they follow its")
	out("guide to performance and its notes for C++: channels that threads do not share, and a completion queue for")
	out("each thread. HAProxy's window follows its page on HTTP/2, and its buffer the measurements below. nginx keeps")
	out("its upstream connections. We found no guide to performance in Thrift's and Cap'n Proto's documentation.")
	out("Thrift uses its templated protocol, without virtual calls. Both have a thread for each connection, as bare")
	out("TCP has.")
	out("")
	n = split("mrpc_bench tcp_bench grpc_bench thrift_bench capnp_bench haproxy nginx", list, " ")
	for (i = 1; i <= n; i++)
		if (list[i] in settings)
			out("* " settings[list[i]])
	if ("haproxy" in settings)
		literal(configs "/haproxy.cfg")
	if ("nginx" in settings)
		literal(configs "/nginx.conf")
}

function literal(file,    line)
{
	out("")
	out("::")
	out("")
	while ((getline line <file) > 0)
		out(line == "" ? "" : "   " line)
	close(file)
}

function read_about(    line, key)
{
	while ((getline line <about) > 0) {
		key = line
		sub(/ .*/, "", key)
		sub(/^[^ ]* /, "", line)
		told[key] = line
		entry_text("about.bench." key, line)
		told_keys[++nr_told] = key
	}
}

# What gRPC takes of one call at a time, as a multiple of bare TCP.
function share(env, key,    grpc)
{
	if (!figure(env, "64/1", key, "grpc"))
		return "not measured"
	grpc = median
	return figure(env, "64/1", key, "bare-tcp") ? sprintf("%.1f", grpc / median) : "not measured"
}

END {
	name_peers()
	read_about()
	emulated = told["acceleration"] == "emulated"
	out(".. SPDX-License-Identifier: GPL-2.0")
	out(".. Made by tools/bench/run: do not edit.")
	title("Benchmarks", "=")
	out("mrpc beside its peers, in one run of ``" told["command"] "``. They took turns, in random order, and")
	out("figures are medians with quartiles. Bare TCP, with ``send`` and ``recv`` for each message, is the yardstick.")
	out("")
	for (i = 1; i <= nr_told; i++)
		out(":" told_keys[i] ": " told[told_keys[i]])
	if (emulated) {
		out("")
		out(".. [#emulated] Emulation flatters kernel code beside peers in user space: gRPC / bare TCP is 3.0 on")
		out("   the paper's hardware; here it is " share("count", "cost") " in instructions and " \
		    share("wall", "median_ns") " in time. Bare TCP is the yardstick that counts.")
	}
	targets_table()
	calls()
	rates()
	goodputs()
	engines()
	streams()
	connections()
	urgent_calls()
	changes()
	settings_section()
	gp("")
}
