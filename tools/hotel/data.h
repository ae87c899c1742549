/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the hotel reservation application knows: 80 hotels along a line, their rates and
 * rooms, and 501 users. Generated, the same in each process; of the original's sizes.
 *
 * Hotels are numbered from 1. Their ids, as in messages, are these numbers as texts.
 */
#ifndef _HOTEL_DATA_H
#define _HOTEL_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HOTELS		80
#define USERS		501

#define GEO_RESULTS	5	/* at most, of a search */
#define GEO_RADIUS_KM	10

#define DATE_LEN	10	/* "2015-04-09" */

struct profile {
	char name[32];
	char phone_number[24];
	char description[288];
	char street_number[8];
	char street_name[24];
	char city[24];
	char state[8];
	char country[24];
	char postal_code[8];
	float lat;
	float lon;
};

struct rate_plan {
	unsigned int hotel;
	char code[8];
	char in_date[DATE_LEN + 1];
	char out_date[DATE_LEN + 1];
	double bookable_rate;
	double total_rate;
	double total_rate_inclusive;
	char room_code[8];
	char room_description[24];
};

/* Before all else. */
void data_init(void);

/* "17" for 17, and back: 0 for what is no hotel's. */
const char *hotel_id(unsigned int hotel);
unsigned int hotel_number(const char *id);

void hotel_position(unsigned int hotel, double *lat, double *lon);
void hotel_profile(unsigned int hotel, struct profile *profile);
/* Whether it has one. */
bool hotel_rate_plan(unsigned int hotel, struct rate_plan *plan);
/* For qsort(): the dearest first, then by hotel. */
int rate_plan_order(const void *a, const void *b);
unsigned int hotel_capacity(unsigned int hotel);

/* The nearest hotels within GEO_RADIUS_KM, nearest first. Return: how many. */
unsigned int geo_nearby(double lat, double lon, unsigned int found[GEO_RESULTS]);

/*
 * All hotels that are the best by @require: "dis", "rate" or "price". Return: how many;
 * negative for another @require.
 */
int recommend(const char *require, double lat, double lon, unsigned int found[HOTELS]);

/* Longest name and password of a user, with the NUL. */
#define USER_TEXT	40

void user_name(unsigned int user, char name[USER_TEXT]);
void user_password(unsigned int user, char password[USER_TEXT]);
bool user_check(const char *name, const char *password);

/* Days since 1970-01-01; negative for what is no date from then on. */
int date_parse(const char *text);
void date_format(int day, char text[DATE_LEN + 1]);

#ifdef __cplusplus
}
#endif

#endif
