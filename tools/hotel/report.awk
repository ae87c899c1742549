# SPDX-License-Identifier: GPL-2.0
#
# Tables, as reStructuredText, of what tools/hotel/guest has printed and stats.awk, which
# comes last, has read. Times are the medians of the repetitions. What file about says, in
# lines "KEY TEXT", goes before them.

$2 ~ /^hotel\// && !($2 in seen) {
	seen[$2] = 1
	tests[++nr_tests] = $2
}

function init(    i)
{
	nr_peers = split("mrpc mrpc+null mrpc+ratelimit,acl grpc grpc-haproxy", peers, " ")
	split("mrpc|mrpc, null|mrpc, ratelimit and acl|gRPC|gRPC, sidecars", names, "|")
	nr_services = split("end-to-end search geo rate profile recommendation reservation user", services, " ")
	yardstick = "mrpc+null"
}

function of(test, peer, key)
{
	return look("wall " test " " peer " " key) ? median : ""
}

function ms(ns)
{
	return ns == "" ? "" : sprintf("%.2f", ns / 1e6)
}

# How many times as long as with mrpc's null engine.
function times(test, peer, key,    mine, its)
{
	mine = of(test, peer, key)
	its = of(test, yardstick, key)
	return mine == "" || !its ? "" : sprintf("%.2f", mine / its)
}

# "least to most" of the repetitions, in ms.
function spread(test, peer, key,    id)
{
	id = "wall " test " " peer " " key
	if (!look(id))
		return ""
	return ms(samples[id, 1]) " .. " ms(samples[id, nr[id]])
}

function rule(widths, n,    i, line)
{
	for (i = 1; i <= n; i++)
		line = line sprintf("%s ", substr("==========================================", 1, widths[i]))
	sub(/ $/, "", line)
	print line
}

function head(test,    part)
{
	split(test, part, "/")
	printf "%s requests in a second:\n\n", part[2]
}

function end_to_end(test,    i, n, w, rate, key)
{
	head(test)
	n = split("23 5 6 8 8 20 8 20 7 7", w, " ")
	rule(w, n)
	printf "%-23s %5s %6s %8s %8s %20s %8s %20s %7s %7s\n", "peer", "rate", "failed", "median",
		"mean", "of turns", "P99", "of turns", "mean*", "P99*"
	rule(w, n)
	for (i = 1; i <= nr_peers; i++) {
		rate = of(test, peers[i], "rate")
		if (rate == "")
			continue
		key = "end-to-end."
		printf "%-23s %5.0f %6d %8s %8s %20s %8s %20s %7s %7s\n", names[i], rate,
			of(test, peers[i], "errors") + of(test, peers[i], "unanswered"),
			ms(of(test, peers[i], key "median_ns")),
			ms(of(test, peers[i], key "mean_ns")), spread(test, peers[i], key "mean_ns"),
			ms(of(test, peers[i], key "p99_ns")), spread(test, peers[i], key "p99_ns"),
			times(test, peers[i], key "mean_ns"), times(test, peers[i], key "p99_ns")
	}
	rule(w, n)
	print ""
}

function by_service(test,    i, s, w, n, cell, key)
{
	head(test)
	w[1] = 14
	for (n = 1; n <= nr_peers; n++)
		w[n + 1] = 29
	rule(w, n)
	printf "%-14s", "service"
	for (i = 1; i <= nr_peers; i++)
		printf " %29s", names[i]
	print ""
	rule(w, n)
	for (s = 1; s <= nr_services; s++) {
		printf "%-14s", services[s]
		for (i = 1; i <= nr_peers; i++) {
			key = services[s] "."
			cell = "-"
			if (of(test, peers[i], key "mean_ns") != "")
				cell = ms(of(test, peers[i], key "mean_ns")) " / " \
					ms(of(test, peers[i], key "median_ns")) " / " \
					ms(of(test, peers[i], key "p99_ns"))
			printf " %29s", cell
		}
		print ""
	}
	rule(w, n)
	print ""
}

function tell_about(    line, key, text, emulated)
{
	while ((getline line <about) > 0) {
		key = text = line
		sub(/ .*/, "", key)
		sub(/^[^ ]* /, "", text)
		print ":" key ": " text
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
	mean = times(test, "grpc-haproxy", "end-to-end.mean_ns")
	p99 = times(test, "grpc-haproxy", "end-to-end.p99_ns")
	if (mean == "" || p99 == "")
		return
	verdict = met(mean + 0, ">=4") && met(p99 + 0, ">=4") ? "met" : "missed"
	printf "At 20 requests in a second gRPC with sidecars takes %s times as long as mrpc with the null\n" \
		"engine in the mean, and %s times at P99. The target is 4 or more: %s.\n\n", mean, p99,
		verdict
}

END {
	init()
	if (!nr_tests) {
		print "hotel: nothing was measured" >"/dev/stderr"
		exit 1
	}
	tell_about()
	target()
	print "End to end, in ms: medians of the turns, and the least and the most of them. With a ``*``: how\n" \
		"many times as long as mrpc with the null engine.\n"
	for (t = 1; t <= nr_tests; t++)
		end_to_end(tests[t])
	print "By service, as its caller sees it: mean / median / P99 in ms.\n"
	for (t = 1; t <= nr_tests; t++)
		by_service(tests[t])
}
