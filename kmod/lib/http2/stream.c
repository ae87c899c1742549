// SPDX-License-Identifier: GPL-2.0
/* Streams of an HTTP/2 connection, and the table of them; see stream.h. */
#include "lib/http2/stream.h"

static struct mrpc_h2_stream **streams_bucket(const struct mrpc_h2_streams *t, u32 id)
{
	return &t->buckets[(id * t->seed) >> (32 - t->bits)];
}

void mrpc_h2_streams_init(struct mrpc_h2_streams *t, struct mrpc_h2_stream **buckets, u32 bits,
			  u32 seed)
{
	*t = (struct mrpc_h2_streams){ .buckets = buckets, .bits = bits, .seed = seed | 1 };
	memset(buckets, 0, sizeof(*buckets) << bits);
	mrpc_link_init(&t->by_age);
	mrpc_link_init(&t->due);
}

struct mrpc_h2_stream *mrpc_h2_streams_find(const struct mrpc_h2_streams *t, u32 id)
{
	struct mrpc_h2_stream *s = *streams_bucket(t, id);

	while (s && s->id != id)
		s = s->hash;
	return s;
}

struct mrpc_h2_stream *mrpc_h2_streams_newest(const struct mrpc_h2_streams *t)
{
	if (mrpc_link_empty(&t->by_age))
		return NULL;
	return container_of(t->by_age.prev, struct mrpc_h2_stream, age);
}

void mrpc_h2_streams_add(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s)
{
	struct mrpc_h2_stream **bucket = streams_bucket(t, s->id);

	s->hash = *bucket;
	*bucket = s;
	mrpc_link_add(&t->by_age, &s->age);
	t->nr++;
}

static void streams_unlist(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s)
{
	if (!s->listed)
		return;
	mrpc_link_del(&s->due);
	s->listed = false;
	t->nr_due--;
}

void mrpc_h2_streams_del(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s)
{
	struct mrpc_h2_stream **at = streams_bucket(t, s->id);

	while (*at != s)
		at = &(*at)->hash;
	*at = s->hash;
	s->hash = NULL;
	mrpc_link_del(&s->age);
	streams_unlist(t, s);
	s->closed = true;
	t->nr--;
}

void mrpc_h2_streams_note(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s)
{
	if (s->listed || !mrpc_h2_window_due(&s->rx))
		return;
	mrpc_link_add(&t->due, &s->due);
	s->listed = true;
	t->nr_due++;
}

void mrpc_h2_streams_end_remote(struct mrpc_h2_streams *t, struct mrpc_h2_stream *s)
{
	s->remote_end = true;
	streams_unlist(t, s);
}

struct mrpc_h2_stream *mrpc_h2_streams_next_due(struct mrpc_h2_streams *t)
{
	struct mrpc_h2_stream *s;

	if (!t->nr_due)
		return NULL;
	s = container_of(t->due.next, struct mrpc_h2_stream, due);
	streams_unlist(t, s);
	return s;
}

bool mrpc_h2_streams_shift(struct mrpc_h2_streams *t, s64 by)
{
	struct mrpc_order_link *l;

	for (l = t->by_age.next; l != &t->by_age; l = l->next) {
		struct mrpc_h2_stream *s = container_of(l, struct mrpc_h2_stream, age);

		if (s->tx_window + by > MRPC_H2_MAX_WINDOW)
			return false;
		s->tx_window += by;
	}
	return true;
}
