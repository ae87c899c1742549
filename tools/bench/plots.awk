# SPDX-License-Identifier: GPL-2.0
#
# Plots of what stats.awk has read, as a script for gnuplot, to the file that variable plots
# names. They are drawn in the directory that variable pictures names, as it is called from the
# page. The page has: name and colour, by peer; figure(), which sets median, q1 and q3 of a
# measurement and returns how many there are; and out(), which prints a line.

function gp(text)
{
	print text >plots
}

function plot_begin(file, text, ylabel, size)
{
	gp("reset")
	gp("set terminal svg size " size " font 'sans,12' background '#ffffff'")
	gp("set output '" file ".svg'")
	gp("set title '" text "'")
	gp("set ylabel '" ylabel "'")
	gp("set grid ytics lc '#dddddd'\nset format y \"%.0f\"\nset border 3\nset tics nomirror")
}

# Bars of one figure; of a second one as lines across them.
function plot_bars(file, text, ylabel, env, test, key, other, scale, peers, how,
		   list, n, i, at, rows, tics, command)
{
	n = split(peers, list, " ")
	for (i = 1; i <= n; i++) {
		if (!figure(env, test, key, list[i]))
			continue
		rows = rows at + 0 " " median * scale " " q1 * scale " " q3 * scale " "
		rows = rows (other != "" && figure(env, test, other, list[i]) ? median * scale : "NaN")
		rows = rows " " colour_number(colour[list[i]]) "\n"
		tics = tics (at ? ", " : "") "\"" name[list[i]] "\" " at++ + 0
	}
	if (!at)
		return
	plot_begin(file, text, ylabel, "860,460")
	gp("$data << EOD\n" rows "EOD")
	gp("set boxwidth 0.7\nset style fill solid 0.8\nset key top left\nset rmargin 12")
	gp("set xrange [-0.6:" at - 0.4 "]\nset xtics rotate by -35 (" tics ")\n" how)
	command = "plot $data using 1:2:6 with boxes lc rgb variable notitle"
	command = command ", $data using 1:2:3:4 with yerrorbars lc '#555555' ps 0 notitle"
	if (other != "")
		command = command ", $data using ($1-0.35):5:(0.7):(0) with vectors nohead lw 2 lc '#333333' title 'P99'"
	gp(command)
	image(file, text)
}

# "#rrggbb" as gnuplot wants it in data.
function colour_number(text,    i, sum)
{
	for (i = 2; i <= 7; i++)
		sum = 16 * sum + index("0123456789abcdef", substr(text, i, 1)) - 1
	return sprintf("%d", sum)
}

# A line for each of @peers over the tests that end @tests: those are "X=TEST ...".
function plot_lines(file, text, xlabel, ylabel, how, key, scale, peers, tests,
		    list, points, n, np, i, j, pair, rows, command, drawn)
{
	n = split(peers, list, " ")
	np = split(tests, points, " ")
	for (i = 1; i <= n; i++) {
		rows = ""
		for (j = 1; j <= np; j++) {
			split(points[j], pair, "=")
			if (figure("wall", pair[2], key, list[i]))
				rows = rows pair[1] " " median * scale " " q1 * scale " " q3 * scale "\n"
		}
		if (rows == "")
			continue
		if (!drawn++)
			plot_begin(file, text, ylabel, "860,480")
		gp("$peer" drawn " << EOD\n" rows "EOD")
		command = command (drawn > 1 ? ", " : "plot ") "$peer" drawn \
			" using 1:2:3:4 with yerrorlines pt 7 ps 0.5 lc rgb '" colour[list[i]] \
			"' title \"" name[list[i]] "\""
	}
	if (!drawn)
		return
	gp("set xlabel '" xlabel "'\n" how "\nset key outside right")
	gp(command)
	image(file, text)
}

function image(file, text)
{
	out(".. image:: " pictures "/" file ".svg")
	out("   :alt: " text)
	out("")
}
