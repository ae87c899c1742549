# SPDX-License-Identifier: GPL-2.0
#
# A page in reStructuredText of what tools/hotel/guest has printed and stats.awk, which comes
# last, has read; its plots are drawn by plots.awk. Times are the medians of the turns. What
# file about says, in lines "KEY TEXT", is on the page.

$2 ~ /^hotel\// && !($2 in seen) {
	seen[$2] = 1
	tests[++nr_tests] = $2
}

function init(    i, j, t, hue, title)
{
	nr_peers = split("mrpc mrpc+null mrpc+ratelimit,acl grpc grpc-haproxy", peers, " ")
	split("mrpc|mrpc, null|mrpc, ratelimit and acl|gRPC|gRPC, sidecars", title, "|")
	split("#d62728 #ff9896 #ff7f0e #1f77b4 #9467bd", hue, " ")
	for (i = 1; i <= nr_peers; i++) {
		name[peers[i]] = title[i]
		colour[peers[i]] = hue[i]
	}
	nr_services = split("end-to-end search geo rate profile recommendation reservation user", services, " ")
	yardstick = "mrpc+null"
	few = 20
	reached = 0.85
	for (i = 2; i <= nr_tests; i++) {
		t = tests[i]
		for (j = i - 1; j > 0 && offered(tests[j]) > offered(t); j--)
			tests[j + 1] = tests[j]
		tests[j + 1] = t
	}
}

function out(text)
{
	print text
}

function offered(test)
{
	return substr(test, length("hotel/") + 1) + 0
}

function figure(env, test, key, peer)
{
	return look(env " " test " " peer " " key)
}

function of(test, peer, key)
{
	return figure("wall", test, key, peer) ? median : ""
}

# Of @what, of which a P99 needs more calls than a median.
function latency(test, peer, service, what)
{
	if (what == "p99_ns" && of(test, peer, service ".nr") < few)
		return ""
	return of(test, peer, service "." what)
}

function ms(ns)
{
	return ns == "" ? "-" : sprintf("%.2f", ns / 1e6)
}

# How many times as long as with mrpc's null engine.
function times(test, peer, service, what,    mine, its)
{
	mine = latency(test, peer, service, what)
	its = latency(test, yardstick, service, what)
	return mine == "" || !its ? "" : sprintf("%.2f", mine / its)
}

# "least to most" of the turns, in ms.
function spread(test, peer, key,    id)
{
	id = "wall " test " " peer " " key
	if (!look(id))
		return ""
	return ms(samples[id, 1]) " .. " ms(samples[id, nr[id]])
}

# -- saturation ------------------------------------------------------------------------

# Sets most, the largest rate that @peer has answered, and missed, the first that it has not
# reached. Returns the largest that it was offered.
function saturate(peer,    t, rate, last)
{
	most = missed = ""
	for (t = 1; t <= nr_tests; t++) {
		rate = of(tests[t], peer, "rate")
		if (rate == "")
			continue
		last = offered(tests[t])
		if (rate > most + 0)
			most = rate
		if (missed == "" && rate < reached * of(tests[t], peer, "offered"))
			missed = last
	}
	return last
}

function saturation(    i, n, w, last)
{
	title("Saturation", "=")
	print "Requests in a second: the most that were answered, the median of the turns at that rate, and the"
	print "first rate that was not reached, at which less than 85 % of what was offered was answered."
	print ""
	n = split("23 8 15", w, " ")
	rule(w, n)
	printf "%-23s %8s %15s\n", "peer", "answered", "not reached"
	rule(w, n)
	for (i = 1; i <= nr_peers; i++) {
		last = saturate(peers[i])
		if (last == "")
			continue
		printf "%-23s %8.0f %15s\n", name[peers[i]], most, missed == "" ? "more than " last : missed
		entry(peers[i] ".hotel.wall.answered", most, "1/s", "", "", 1)
		if (missed != "")
			entry(peers[i] ".hotel.wall.not_reached", missed, "1/s", "", "", 1)
	}
	rule(w, n)
	print ""
}

# -- tables ----------------------------------------------------------------------------

function title(text, under,    line)
{
	line = text
	gsub(/./, under, line)
	print text
	print line
	print ""
}

function rule(widths, n,    i, line)
{
	for (i = 1; i <= n; i++)
		line = line sprintf("%s ", substr("==========================================", 1, widths[i]))
	sub(/ $/, "", line)
	print line
}

function head(test)
{
	printf "%d requests in a second:\n\n", offered(test)
}

function end_to_end(test,    i, n, w, turns, rate, key)
{
	head(test)
	n = split("23 5 5 6 8 8 20 8 20 7 7", w, " ")
	rule(w, n)
	printf "%-23s %5s %5s %6s %8s %8s %20s %8s %20s %7s %7s\n", "peer", "turns", "rate", "failed",
		"median", "mean", "of turns", "P99", "of turns", "mean*", "P99*"
	rule(w, n)
	for (i = 1; i <= nr_peers; i++) {
		rate = of(test, peers[i], "rate")
		if (rate == "")
			continue
		turns = figure("wall", test, "rate", peers[i])
		key = "end-to-end."
		printf "%-23s %5d %5.0f %6d %8s %8s %20s %8s %20s %7s %7s\n", name[peers[i]], turns, rate,
			of(test, peers[i], "errors") + of(test, peers[i], "unanswered"),
			ms(of(test, peers[i], key "median_ns")),
			ms(of(test, peers[i], key "mean_ns")), spread(test, peers[i], key "mean_ns"),
			ms(of(test, peers[i], key "p99_ns")), spread(test, peers[i], key "p99_ns"),
			times(test, peers[i], "end-to-end", "mean_ns"),
			times(test, peers[i], "end-to-end", "p99_ns")
	}
	rule(w, n)
	print ""
}

# Each peer has the same requests, and so as many calls.
function calls_of(test, service,    i, most, n)
{
	for (i = 1; i <= nr_peers; i++) {
		n = of(test, peers[i], service ".nr")
		if (n > most + 0)
			most = n
	}
	return most + 0
}

function by_service(test,    i, s, w, n, cell)
{
	head(test)
	w[1] = 14
	w[2] = 6
	for (n = 2; n <= nr_peers + 1; n++)
		w[n + 1] = 30
	rule(w, n)
	printf "%-14s %6s", "service", "calls"
	for (i = 1; i <= nr_peers; i++)
		printf " %30s", name[peers[i]]
	print ""
	rule(w, n)
	for (s = 1; s <= nr_services; s++) {
		printf "%-14s %6.0f", services[s], calls_of(test, services[s])
		for (i = 1; i <= nr_peers; i++) {
			cell = "-"
			if (of(test, peers[i], services[s] ".mean_ns") != "")
				cell = ms(latency(test, peers[i], services[s], "mean_ns")) " / " \
					ms(latency(test, peers[i], services[s], "median_ns")) " / " \
					ms(latency(test, peers[i], services[s], "p99_ns"))
			printf " %30s", cell
		}
		print ""
	}
	rule(w, n)
	print ""
}

# -- what programs read ----------------------------------------------------------------

# The samples go with it, sorted.
function entries_of(test, peer, key, value, scale, unit, ratio,    id, label, i, list)
{
	id = "wall " test " " peer " " key
	if (value == "" || !look(id))
		return
	label = peer "." test ".wall." key
	entry(label, value * scale, unit, ratio == "" ? "" : yardstick, ratio, nr[id], q1 * scale, q3 * scale)
	for (i = 1; i <= nr[id]; i++)
		list = list (i > 1 ? ", " : "") sprintf("%.6g", samples[id, i] * scale)
	entry_series(label ".turns", list, unit)
}

function all_entries(    t, i, s, k, rates, latencies, nr_rates, nr_latencies)
{
	nr_rates = split("offered rate errors unanswered", rates, " ")
	nr_latencies = split("mean_ns median_ns p99_ns", latencies, " ")
	for (t = 1; t <= nr_tests; t++)
		for (i = 1; i <= nr_peers; i++) {
			for (k = 1; k <= nr_rates; k++)
				entries_of(tests[t], peers[i], rates[k], of(tests[t], peers[i], rates[k]), 1,
					   k <= 2 ? "1/s" : "requests", "")
			for (s = 1; s <= nr_services; s++) {
				entries_of(tests[t], peers[i], services[s] ".nr",
					   of(tests[t], peers[i], services[s] ".nr"), 1, "calls", "")
				for (k = 1; k <= nr_latencies; k++)
					entries_of(tests[t], peers[i], services[s] "." latencies[k],
						   latency(tests[t], peers[i], services[s], latencies[k]), 1e-6,
						   "ms", times(tests[t], peers[i], services[s], latencies[k]))
			}
		}
}

# -- the page --------------------------------------------------------------------------

function tell_about(    line, key, text, emulated)
{
	while ((getline line <about) > 0) {
		key = text = line
		sub(/ .*/, "", key)
		sub(/^[^ ]* /, "", text)
		print ":" key ": " text
		entry_text("about.hotel." key, text)
		emulated = emulated || line == "acceleration emulated"
	}
	print ""
	if (emulated)
		print "Emulation flatters kernel code beside peers in user space: these are no figures of what gRPC and\n" \
			"mrpc are to each other on hardware.\n"
}

# Of the load that mRPC's authors chose.
function target(    test, mean, p99, verdict)
{
	test = "hotel/20"
	mean = times(test, "grpc-haproxy", "end-to-end", "mean_ns")
	p99 = times(test, "grpc-haproxy", "end-to-end", "p99_ns")
	if (mean == "" || p99 == "")
		return
	verdict = met(mean + 0, ">=4") && met(p99 + 0, ">=4") ? "met" : "missed"
	printf "At 20 requests in a second gRPC with sidecars takes %s times as long as mrpc with the null\n" \
		"engine in the mean, and %s times at P99. The target is 4 or more: %s.\n\n", mean, p99,
		verdict
}

function plot_latency(file, text, key,    t, points, tics)
{
	for (t = 1; t <= nr_tests; t++) {
		points = points " " offered(tests[t]) "=" tests[t]
		tics = tics (t > 1 ? ", " : "") offered(tests[t])
	}
	plot_lines(file, text, "requests offered in a second", "ms",
		   "set logscale xy\nset format y '%g'\nset xtics (" tics ")", key, 1e-6,
		   "mrpc mrpc+null mrpc+ratelimit,acl grpc grpc-haproxy", points)
}

END {
	init()
	if (!nr_tests) {
		print "hotel: nothing was measured" >"/dev/stderr"
		exit 1
	}
	print ".. SPDX-License-Identifier: GPL-2.0"
	print ".. Made by tools/hotel/run: do not edit.\n"
	title("Figures of the hotel reservation application", "=")
	print "What is measured, and how: hotel.rst.\n"
	tell_about()
	target()
	saturation()
	title("End to end", "=")
	print "From when a request was due to its answer, over the rate at which requests are offered: medians of the"
	print "turns, with quartiles."
	print ""
	plot_latency("mean", "Mean latency, end to end", "end-to-end.mean_ns")
	plot_latency("p99", "P99 latency, end to end", "end-to-end.p99_ns")
	print "In ms: medians of the turns, and the least and the most of them. A peer that has not reached a rate"
	print "is not offered more in that turn. With a ``*``: how many times as long as mrpc with the null engine.\n"
	for (t = 1; t <= nr_tests; t++)
		end_to_end(tests[t])
	title("By service", "=")
	print "As its caller sees it: mean / median / P99 in ms, of so many calls in a turn. A service's calls are those"
	print "of the 0.3 s before, too. P99 of less than 100 calls is the latest of them; of less than " few " it is left out."
	print ""
	for (t = 1; t <= nr_tests; t++)
		by_service(tests[t])
	all_entries()
}
