# SPDX-License-Identifier: GPL-2.0
#
# Reads the lines that tools/bench/guest prints; medians and quartiles of them, for
# report.awk and page.awk. What these look at is written to the file that variable json names:
# this file comes last.

BEGIN { printf "[" >json }
$1 == "setting" {
	line = $0
	sub(/^setting [^ ]* /, "", line)
	settings[$2] = line
	next
}
{
	# One thread is what there is if nothing is said.
	if (split($2, part, "/") == 3 && part[3] == 1)
		$2 = part[1] "/" part[2]
	# One of several things of which a measurement tells.
	if (sub(/^of=/, "", $4))
		$2 = $2 "/" $4
	for (i = 4; i <= NF; i++) {
		if (split($i, pair, "=") < 2)
			continue
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
	printf "%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"against\": %s, \"ratio\": %s, \"repetitions\": %d, \"q1\": %s, \"q3\": %s}",
		entries++ ? "," : "", name, value, unit, against == "" ? "null" : "\"" against "\"",
		ratio == "" ? "null" : sprintf("%.4f", ratio), n, low == "" ? "null" : sprintf("%.6g", low),
		high == "" ? "null" : sprintf("%.6g", high) >json
}

# What one measurement has counted in a row: @values, with commas between them.
function entry_series(name, values, unit)
{
	printf "%s\n  {\"name\": \"%s\", \"values\": [%s], \"unit\": \"%s\"}",
		entries++ ? "," : "", name, values, unit >json
}

# What is no figure.
function entry_text(name, text)
{
	gsub(/\\/, "\\\\\\\\", text)
	gsub(/"/, "\\\\\"", text)
	printf "%s\n  {\"name\": \"%s\", \"text\": \"%s\"}", entries++ ? "," : "", name, text >json
}

function met(ratio, wanted)
{
	if (wanted ~ /^<=/)
		return ratio <= substr(wanted, 3) + 0
	if (wanted ~ /^>=/)
		return ratio >= substr(wanted, 3) + 0
	# equal, but for what a timer's interrupt does
	return ratio <= substr(wanted, 2) + 0.02
}

END { print "\n]" >json }
