/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random faults: a few hosts that send each other messages with content, in a network that
 * loses, repeats, delays and damages packets, while hosts stand still, restart, forget each
 * other, give messages up and run out of memory. One number decides all of it.
 *
 * What must hold: a message comes at most once and as it was; it comes if its sender was told
 * so; it fails only if there was a reason; when the faults end, everything ends, and nothing
 * is left.
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include "lib/ds/types.h"

/**
 * struct fault_report - of one seed
 * @failed: something did not hold
 * @why: what
 * @messages: that were sent
 * @came: of them
 * @packets: that arrived
 * @lost, @repeated, @delayed, @damaged: of them
 * @restarts, @stalls, @cuts: of hosts, and of pairs of them
 * @resends: ranges asked for
 * @gaps: greatest number of bitmaps at one host
 * @memory: greatest number of bytes of one host's state
 */
struct fault_report {
	bool failed;
	char why[240];
	u64 messages;
	u64 came;
	u64 packets;
	u64 lost;
	u64 repeated;
	u64 delayed;
	u64 damaged;
	u64 restarts;
	u64 stalls;
	u64 cuts;
	u64 resends;
	u64 gaps;
	u64 memory;
};

/** faults_run() - one seed; @verbose: tells what happens to messages, on stderr */
void faults_run(u64 seed, bool verbose, struct fault_report *report);

#endif /* SIM_FAULTS_H */
