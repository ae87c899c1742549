# SPDX-License-Identifier: GPL-2.0
#
# Names the functions in a profile's counts. Input, sorted by address:
#
#	ADDRESS 0 FUNCTION MODULE	a symbol
#	ADDRESS 1			an address that is a caller
#	ADDRESS 2 ADDRESS instructions N
#	ADDRESS 2 ADDRESS atomics N
#	ADDRESS 2 ADDRESS from CALLER N
#
# Output, per call (variable calls):
#
#	self MODULE FUNCTION INSTRUCTIONS
#	atomics MODULE FUNCTION N
#	call MODULE FUNCTION MODULE FUNCTION TIMES	caller, callee

$2 == 0 { function_ = $4 " " $3; start = $1; next }
$2 == 1 { owner[$1] = function_; next }
$4 == "instructions" { self[function_] += $5; next }
$4 == "atomics" { atomics[function_] += $5; next }
# A return or a jump within a function does not reach its first instruction.
$1 == start { nr++; callee[nr] = function_; from[nr] = $5; times[nr] = $6 }

END {
	for (f in self)
		printf "self %s %.1f\n", f, self[f] / calls
	for (f in atomics)
		printf "atomics %s %.2f\n", f, atomics[f] / calls
	for (i = 1; i <= nr; i++)
		sum[owner[from[i]] " " callee[i]] += times[i]
	for (pair in sum)
		printf "call %s %.3f\n", pair, sum[pair] / calls
}
