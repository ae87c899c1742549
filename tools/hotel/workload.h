/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What clients ask for: the mix of the original's generator (60 % searches, 39 %
 * recommendations, 0.5 % logins, 0.5 % reservations), the same sequence for the same seed.
 * Kinds are not drawn independently: then a short measurement would often lack the rare ones.
 */
#ifndef _HOTEL_WORKLOAD_H
#define _HOTEL_WORKLOAD_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

enum request_kind {
	REQUEST_HOTELS,
	REQUEST_RECOMMEND,
	REQUEST_LOGIN,
	REQUEST_RESERVE,
	REQUEST_KINDS
};

/* What its kind does not need is not set. The user is the customer, too. */
struct request {
	enum request_kind kind;
	double lat;
	double lon;
	char in_date[DATE_LEN + 1];
	char out_date[DATE_LEN + 1];
	const char *require;
	unsigned int hotel;
	int rooms;
	char username[USER_TEXT];
	char password[USER_TEXT];
};

#define MIX_DECK	200

/**
 * struct request_mix - where a sequence of requests is
 * @random: for all that is drawn
 * @left: cards of the deck that are not used up
 * @deck: kinds, shuffled again when they are used up: each MIX_DECK requests have the exact mix
 */
struct request_mix {
	uint64_t random;
	unsigned int left;
	unsigned char deck[MIX_DECK];
};

/* @random is from sim_seed(). */
void mix_init(struct request_mix *mix, uint64_t random);

void request_next(struct request *request, struct request_mix *mix);

#ifdef __cplusplus
}
#endif

#endif
