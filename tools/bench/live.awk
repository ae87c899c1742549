# SPDX-License-Identifier: GPL-2.0
#
# The page's sections about what is measured while something else goes on: live changes, and
# urgent calls beside bulk. Goes with page.awk.

# -- live changes ----------------------------------------------------------------------

# What is changed, in that order, by what timeline.c calls it.
function name_changes()
{
	split("insert upgrade limit configure policy programs receiver transport remove", change, " ")
	change_text["insert"] = "null engine inserted"
	change_text["upgrade"] = "null to its version 2"
	change_text["limit"] = "ratelimit inserted, unlimited"
	change_text["configure"] = "ratelimit gets a rate, never reached"
	change_text["policy"] = "BPF policy inserted"
	change_text["programs"] = "other programs for the policy"
	change_text["receiver"] = "server: tcp to version 2, checksums"
	change_text["transport"] = "client: tcp to version 2, checksums"
	change_text["remove"] = "all of these removed, at both ends"
}

# What happened without a change at the moments at which there could have been any, together.
function pool_unchanged(    keys, n, i, j, k, id)
{
	n = split("before worst_10ms worst_100ms after longest_us", keys, " ")
	for (i = 1; i in change; i++)
		for (j = 1; j <= n; j++) {
			id = "wall timeline/" change[i] " mrpc-tcp " keys[j]
			for (k = 1; k <= nr[id]; k++)
				add("wall", "timeline/none", "mrpc-tcp", keys[j], samples[id, k])
		}
}

# A cell: the median of what happened at change @of, with quartiles if there are several runs.
function of_change(of, peer, key, unit, scale,    id, text)
{
	id = "wall timeline/" of " " peer " " key
	if (!look(id))
		return ""
	entry("timeline." of "." key, median * scale, unit, "", "", nr[id], q1 * scale, q3 * scale)
	text = of_unit(median * scale, unit)
	return nr[id] > 1 ? text " (" of_unit(q1 * scale, unit) " .. " of_unit(q3 * scale, unit) ")" : text
}

function of_unit(value, unit)
{
	return unit == "ratio" ? sprintf("%.2f", value) : number(value)
}

function change_row(label, of, peer)
{
	cells(label "|" of_change(of, peer, "took_us", "us", 1) "|" of_change(of, peer, "pause_us", "us", 1) "|" \
	      of_change(of, peer, "before", "1/s", 1) "|" of_change(of, peer, "worst_10ms", "ratio", 1) "|" \
	      of_change(of, peer, "worst_100ms", "ratio", 1) "|" of_change(of, peer, "after", "ratio", 1) "|" \
	      of_change(of, peer, "longest_us", "ms", 0.001))
}

# What the first run of @peer has counted for each bucket, as rows for gnuplot: seconds, calls, ms
# of the longest. Sets series_end and raises series_most.
function series_rows(peer,    i, ended, slowest, rows)
{
	series_end = split(samples["wall timeline " peer " calls_per_10ms", 1], ended, ",") / 100
	split(samples["wall timeline " peer " longest_us_per_10ms", 1], slowest, ",")
	for (i = 1; i in ended; i++) {
		rows = rows (i - 1) / 100 " " ended[i] " " slowest[i] / 1000 "\n"
		if (ended[i] > series_most)
			series_most = ended[i]
	}
	return rows
}

# One above the other, on one scale: with changes, with their marks; without; and the longest calls.
function plot_changes(    i, at, n, marks, labels, without, with)
{
	without = series_rows("mrpc-tcp")
	with = series_rows("mrpc-tcp+changes")
	for (i = 1; i in change; i++) {
		if (!nr["wall timeline/" change[i] " mrpc-tcp+changes at_ms"])
			continue
		at = samples["wall timeline/" change[i] " mrpc-tcp+changes at_ms", 1] / 1000
		marks = marks "set arrow " ++n " from " at ", graph 0 to " at ", graph 1 nohead lc '#d62728' dt 2\n"
		labels = labels "set label " n " \"" n "\" at " at ", graph 1.06 center tc '#d62728'\n"
	}
	gp("reset")
	gp("set terminal svg size 960,900 font 'sans,12' background '#ffffff'")
	gp("set output 'timeline.svg'")
	gp("$with << EOD\n" with "EOD")
	if (without != "")
		gp("$without << EOD\n" without "EOD")
	gp("set multiplot layout " (without == "" ? 2 : 3) ",1")
	gp("set grid ytics lc '#dddddd'\nset border 3\nset tics nomirror\nset lmargin 10\nset tmargin 3")
	gp("set xrange [0:" series_end "]\nset yrange [0:" series_most * 1.05 "]\nset ylabel 'calls in 10 ms'\nunset key")
	gp(marks labels "set title 'with changes' offset 0,0.5")
	gp("plot $with using 1:2 with lines lc '#1f77b4'")
	gp("unset label\nset title 'without changes'")
	if (without != "")
		gp("unset arrow\nplot $without using 1:2 with lines lc '#777777'\n" marks)
	gp("set title 'the longest call that ended then'\nset key top right\nset logscale y\nset yrange [*:*]")
	gp("set ylabel 'ms'\nset xlabel 'seconds'")
	gp("plot " (without == "" ? "" : "$without using 1:3 with lines lc '#bbbbbb' title 'without changes', ") \
	   "$with using 1:3 with lines lc '#1f77b4' title 'with changes'")
	gp("unset multiplot")
	image("timeline", "Calls in 10 ms while engines, policies and the transport change")
}

function changes(    heads, i, n, id)
{
	id = "wall timeline mrpc-tcp+changes "
	if (!nr[id "calls"])
		return
	name_changes()
	pool_unchanged()
	title("Live changes", "=")
	out("Calls of 32 bytes, 128 in flight over 16 connections of one thread, counted by when they end,")
	out("while an operator changes what they pass. Of " number(total(id "calls")) " calls " \
	    total(id "lost") " were lost, and " total(id "twice") " ended twice.")
	out("")
	plot_changes()
	out("The numbers are those of the table; the plot is of the first run. Before, during and after are 200 ms")
	out("each; during begins with the change. Worst and after are shares of the rate before. A pause is the")
	out("longest for which one datapath stood still. Modules were loaded before. The last row is of runs")
	out("without changes, at the same moments: so much the machine varies by itself.")
	out("")
	split("change|request, us|pause, us|calls/s before|worst 10 ms|worst 100 ms|200 ms after|longest call, ms",
	      heads, "|")
	table("Changes while calls run", "26 10 10 12 12 12 12 12", 8, heads)
	for (i = 1; i in change; i++)
		if (nr["wall timeline/" change[i] " mrpc-tcp+changes before"])
			change_row(++n ". " change_text[change[i]], change[i], "mrpc-tcp+changes")
	change_row("none", "none", "mrpc-tcp")
	out("")
	entry_series("timeline.changes", samples[id "calls_per_10ms", 1], "calls in 10 ms")
	entry_series("timeline.none", samples["wall timeline mrpc-tcp calls_per_10ms", 1], "calls in 10 ms")
}

# -- urgent calls ----------------------------------------------------------------------

function urgent_row(label, test, peer,    id)
{
	id = "wall " test " " peer " "
	if (!look(id "median_ns"))
		return
	cells(label "|" urgent_cell(test, peer, "median_ns", 0.000001, "ms") "|" \
	      urgent_cell(test, peer, "p99_ns", 0.000001, "ms") "|" \
	      urgent_cell(test, peer, "bulk_bytes_per_s", 1 / 1048576, "MiB/s") "|" nr[id "median_ns"])
}

function urgent_cell(test, peer, key, scale, unit,    id)
{
	id = "wall " test " " peer " " key
	if (!look(id))
		return "|"
	entry(peer "." test "." key, median * scale, unit, "", "", nr[id], q1 * scale, q3 * scale)
	return number(median * scale) "|" number(q1 * scale) " .. " number(q3 * scale)
}

function urgent_calls(    heads)
{
	if (!seen("wall", "urgent", "median_ns", "mrpc-tcp"))
		return
	title("Urgent calls beside bulk", "=")
	out("Calls of 32 bytes with priority 250, one each 10 ms or when the last has ended, beside 64 calls of")
	out("32 KiB in flight, over a line of 50 Mbit/s (tbf, 6 MiB/s). Ranks are a qos engine, by size, and an")
	out("egress domain with strict priority. prio schedules by itself.")
	out("")
	split("over|median, ms|quartiles|P99, ms|quartiles|bulk, MiB/s|quartiles|runs", heads, "|")
	table("Urgent calls beside bulk", "28 10 16 10 16 10 16 8", 8, heads)
	urgent_row("tcp, no bulk", "urgent-alone", "mrpc-tcp")
	urgent_row("tcp, bulk on another connection", "urgent", "mrpc-tcp")
	urgent_row("the same with ranks", "urgent", "mrpc-tcp+ranks")
	urgent_row("tcp, bulk on the same connection", "urgent-same", "mrpc-tcp")
	urgent_row("the same with ranks", "urgent-same", "mrpc-tcp+ranks")
	urgent_row("prio, no bulk", "urgent-alone", "mrpc-prio")
	urgent_row("prio, bulk on another connection", "urgent", "mrpc-prio")
	urgent_row("prio, bulk on the same connection", "urgent-same", "mrpc-prio")
	out("")
}
