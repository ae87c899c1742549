// SPDX-License-Identifier: GPL-2.0
/*
 * ranks NUMBER: ranks of a group, sessions of this process, over loop. It obeys words on standard
 * input, and prints each when that is done:
 *
 *	run	all do an AllReduce of 25000 numbers
 *	begin	all but the last rank begin one, which therefore stays
 *	finish	the last one does its part
 *	leave	the last rank leaves the group, and the others know
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

static const struct mrpc_sqe sum = {
	.collective = MRPC_ALLREDUCE, .algorithm = MRPC_RING, .elem = MRPC_ELEM_I32,
	.count = 25000, .output = 1 << 20,
};

static void begin(void)
{
	unsigned int rank;

	for (rank = 0; rank < nr_ranks - 1; rank++)
		rank_submit(rank, sum);
}

static void leave(void)
{
	unsigned int rank;

	rank_leave(&ranks[nr_ranks - 1]);
	begin();
	for (rank = 0; rank < nr_ranks - 1; rank++)
		while (rank_complete(rank) == MRPC_OK)
			rank_submit(rank, sum);
}

int main(int argc, char **argv)
{
	char word[16];

	ranks_begin("loop", argc > 1 ? atoi(argv[1]) : 2, 2 << 20);
	puts("ready");
	fflush(stdout);
	while (scanf("%15s", word) == 1) {
		if (!strcmp(word, "run")) {
			ranks_submit(&sum);
			ranks_complete();
		} else if (!strcmp(word, "begin")) {
			begin();
		} else if (!strcmp(word, "finish")) {
			rank_submit(nr_ranks - 1, sum);
			ranks_complete();
		} else if (!strcmp(word, "leave")) {
			leave();
		} else {
			raw_die("'%s'?", word);
		}
		puts(word);
		fflush(stdout);
	}
	ranks_end();
	return 0;
}
