/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the hotel programs of mrpc and of gRPC have in common: the command line, the
 * latencies of the calls that a service makes, the generator and the check of answers.
 */
#ifndef _HOTEL_PROGRAM_H
#define _HOTEL_PROGRAM_H

#include <string.h>

#include "load.h"

#ifdef __cplusplus
extern "C" {
#endif

enum service {
	FRONTEND,
	SEARCH,
	GEO,
	RATE,
	PROFILE,
	RECOMMENDATION,
	RESERVATION,
	USER,
	SERVICES
};

extern const char *const service_names[SERVICES];

/* What one service is called with. */
struct service_options {
	enum service service;
	const char *listen;
	const char *addresses[SERVICES];	/* of those that it calls */
};

struct place {
	char id[8];
	struct profile profile;	/* of which the name, the number and where it is */
};

/* What clients are told in answer. */
struct answer {
	int status;		/* as gRPC numbers them */
	char detail[520];
	char text[64];
	unsigned int nr;
	struct place places[HOTELS];
};

/* As much of a text as there is room for. */
static inline void take_text(char *to, size_t size, const char *from)
{
	size_t len = strlen(from);

	if (len >= size)
		len = size - 1;
	memcpy(to, from, len);
	to[len] = 0;
}

#define TAKE(to, from)	take_text(to, sizeof(to), from)

/**
 * struct peer - an implementation
 * @serve: is a service until @stop
 * @stop: ends it; another thread
 * @connect: to the frontend, for @load and @ask
 * @load: the generator's calls
 * @ask: makes one request and waits for its answer
 *
 * What cannot start says so and exits.
 */
struct peer {
	void (*serve)(const struct service_options *o);
	void (*stop)(void);
	void (*connect)(const char *address);
	struct load_peer load;
	void (*ask)(const struct request *request, struct answer *answer);
};

int program_main(int argc, char **argv, const struct peer *peer);

/* A service says "ready" when it can be called. */
void program_ready(void);

uint64_t now_ns(void);

/* A call that this process made of @service at @began has ended. */
void hop_ended(enum service service, uint64_t began);

#ifdef __cplusplus
}
#endif

#endif
