/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What clients ask for: the mix of the original's generator (60 % searches, 39 %
 * recommendations, 0.5 % logins, 0.5 % reservations), the same sequence for the same seed.
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

void request_next(struct request *request, uint64_t *random);

#ifdef __cplusplus
}
#endif

#endif
