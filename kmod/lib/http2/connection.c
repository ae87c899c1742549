// SPDX-License-Identifier: GPL-2.0
/* A connection of HTTP/2: its life, its streams, what may be sent; see connection.h. */
#include "lib/http2/connection.h"

/* WINDOW_UPDATE frames that are free of cost for each DATA frame sent, and at most. */
#define CONN_UPDATES		2
#define CONN_MAX_UPDATES	65536

static bool conn_valid_window(u32 window)
{
	return window >= MRPC_H2_FIRST_WINDOW && window <= MRPC_H2_MAX_WINDOW;
}

static bool conn_valid(const struct mrpc_h2_config *config)
{
	u32 least = max_t(u32, MRPC_H2_MIN_GONE, config->max_streams + MRPC_H2_GONE_ROOM);

	if (!config->max_streams || config->max_streams > MRPC_H2_MAX_STREAMS)
		return false;
	if (!conn_valid_window(config->stream_window) || !conn_valid_window(config->conn_window))
		return false;
	if (!config->bits || config->bits > 16)
		return false;
	return config->nr_gone >= least && !(config->nr_gone & (config->nr_gone - 1));
}

int mrpc_h2_init(struct mrpc_h2_conn *c, const struct mrpc_h2_config *config, u64 now)
{
	if (!conn_valid(config))
		return -EINVAL;
	memset(c, 0, sizeof(*c));
	c->config = *config;
	c->server = config->server;
	c->preface = true;
	c->next_id = 1;
	c->peer_last = MRPC_H2_MAX_ID;
	c->peer = (struct mrpc_h2_peer){
		.table_size = MRPC_H2_TABLE_SIZE,
		.table_least = MRPC_H2_TABLE_SIZE,
		.max_streams = U32_MAX,
		.window = MRPC_H2_FIRST_WINDOW,
		.max_header_list = U32_MAX,
	};
	c->tx_window = MRPC_H2_FIRST_WINDOW;
	c->stream_target = config->stream_window;
	c->settle_by = now + MRPC_H2_SETTINGS_TIMEOUT_NS;
	mrpc_h2_window_init(&c->rx, MRPC_H2_FIRST_WINDOW, config->conn_window);
	mrpc_h2_streams_init(&c->streams, config->buckets, config->bits, config->seed);
	mrpc_h2_gone_init(&c->gone, config->gone, config->nr_gone);
	return mrpc_bucket_init(&c->bucket, now, MRPC_H2_COST_RATE,
				MRPC_H2_COST_BURST +
				(u64)MRPC_H2_COST_RESET * config->max_streams);
}

/* The last GOAWAY is due. From now on, larger ids are ignored, so the last one never grows. */
static void conn_leave(struct mrpc_h2_conn *c)
{
	c->left_id = c->last_peer;
	c->leave = MRPC_H2_LEAVES;
}

int mrpc_h2_fail(struct mrpc_h2_conn *c, u32 code, const char *why)
{
	if (c->why)
		return -EPROTO;
	c->code = code;
	c->why = why;
	conn_leave(c);
	return -EPROTO;
}

int mrpc_h2_charge(struct mrpc_h2_conn *c, u32 cost, u64 now)
{
	if (!mrpc_bucket_take(&c->bucket, now, cost))
		return 0;
	return mrpc_h2_fail(c, MRPC_H2_ENHANCE_YOUR_CALM,
			    "The peer makes more work than its calls are worth");
}

void mrpc_h2_reward(struct mrpc_h2_conn *c)
{
	mrpc_bucket_return(&c->bucket, 1);
}

u32 mrpc_h2_gone_room(const struct mrpc_h2_conn *c)
{
	return c->gone.nr - mrpc_h2_gone_owed(&c->gone) - c->streams.nr;
}

static void conn_add_stream(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 id)
{
	*s = (struct mrpc_h2_stream){ .id = id, .tx_window = c->peer.window };
	mrpc_link_init(&s->age);
	mrpc_link_init(&s->due);
	mrpc_h2_window_init(&s->rx, c->config.stream_window, c->config.stream_window);
	mrpc_h2_streams_add(&c->streams, s);
}

void mrpc_h2_accept(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 id, bool end)
{
	conn_add_stream(c, s, id);
	s->headed = true;
	s->remote_end = end;
}

void mrpc_h2_refuse(struct mrpc_h2_conn *c, u32 id, u32 code)
{
	/* mrpc_h2_congested() keeps room for it. */
	if (mrpc_h2_gone_room(c))
		mrpc_h2_gone_add(&c->gone, id, code);
}

int mrpc_h2_open(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, bool end)
{
	if (c->why || c->peer_left || c->leave != MRPC_H2_STAYS)
		return -ESHUTDOWN;
	if (c->next_id > MRPC_H2_MAX_ID)
		return -ENOSPC;
	if (c->streams.nr >= min(c->config.max_streams, c->peer.max_streams))
		return -EAGAIN;
	if (mrpc_h2_gone_room(c) <= MRPC_H2_GONE_SPARE)
		return -EAGAIN;
	conn_add_stream(c, s, c->next_id);
	s->local_end = end;
	c->next_id += 2;
	/* The server may answer, reset the stream, and do both again, when it is closed here. */
	mrpc_bucket_return(&c->bucket, MRPC_H2_OPEN_WORTH);
	return 0;
}

u32 mrpc_h2_ids_left(const struct mrpc_h2_conn *c)
{
	return (MRPC_H2_MAX_ID + 2 - c->next_id) / 2;
}

int mrpc_h2_informational(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u64 now)
{
	s->headed = false;
	return mrpc_h2_charge(c, MRPC_H2_COST_FRAME, now);
}

s64 mrpc_h2_may_send(const struct mrpc_h2_conn *c, const struct mrpc_h2_stream *s)
{
	s64 n = min(c->tx_window, s->tx_window);

	if (s->closed || s->local_end || c->why || n <= 0)
		return 0;
	return min_t(s64, n, MRPC_H2_MAX_FRAME);
}

void mrpc_h2_sent(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 n)
{
	c->tx_window -= n;
	s->tx_window -= n;
	c->updates = min_t(u32, c->updates + CONN_UPDATES, CONN_MAX_UPDATES);
}

bool mrpc_h2_end_local(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s)
{
	if (s->closed)
		return false;
	s->local_end = true;
	if (!s->remote_end)
		return false;
	mrpc_h2_streams_del(&c->streams, s);
	return true;
}

bool mrpc_h2_reset(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 code)
{
	if (s->closed)
		return false;
	mrpc_h2_streams_del(&c->streams, s);
	mrpc_h2_gone_add(&c->gone, s->id, code);
	return true;
}

void mrpc_h2_forget(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s)
{
	if (!s->closed)
		mrpc_h2_streams_del(&c->streams, s);
}

void mrpc_h2_credit_conn(struct mrpc_h2_conn *c, u32 n)
{
	mrpc_h2_window_credit(&c->rx, n);
}

void mrpc_h2_credit_stream(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 n)
{
	if (s->closed || s->remote_end)
		return;
	mrpc_h2_window_grow(&s->rx, c->stream_target);
	mrpc_h2_window_credit(&s->rx, n);
	mrpc_h2_streams_note(&c->streams, s);
}

void mrpc_h2_took(struct mrpc_h2_conn *c, struct mrpc_h2_stream *s, u32 n)
{
	mrpc_h2_credit_conn(c, n);
	mrpc_h2_credit_stream(c, s, n);
}

void mrpc_h2_grow_window(struct mrpc_h2_conn *c, u32 conn_window, u32 stream_window)
{
	mrpc_h2_window_grow(&c->rx, conn_window);
	c->stream_target = max(c->stream_target, stream_window);
}

bool mrpc_h2_table_size(struct mrpc_h2_conn *c, u32 *least, u32 *last)
{
	if (!c->table_changed || c->acks)
		return false;
	*least = c->peer.table_least;
	*last = c->peer.table_size;
	c->peer.table_least = c->peer.table_size;
	c->table_changed = false;
	return true;
}

void mrpc_h2_goaway(struct mrpc_h2_conn *c, u64 now)
{
	if (c->leave != MRPC_H2_STAYS)
		return;
	if (!c->server) {
		conn_leave(c);
		return;
	}
	c->leave = MRPC_H2_WARNS;
	c->drain_by = now + MRPC_H2_DRAIN_TIMEOUT_NS;
}

u32 mrpc_h2_drained(struct mrpc_h2_conn *c)
{
	conn_leave(c);
	return c->left_id;
}

bool mrpc_h2_ping(struct mrpc_h2_conn *c)
{
	if (c->ping != MRPC_H2_PING_NONE)
		return false;
	c->ping = MRPC_H2_PING_DUE;
	return true;
}

u64 mrpc_h2_deadline(const struct mrpc_h2_conn *c)
{
	u64 when = MRPC_H2_NEVER;

	if (c->why)
		return when;
	if (!c->acked)
		when = c->settle_by;
	if (c->leave == MRPC_H2_WARNS || c->leave == MRPC_H2_WARNED)
		when = min(when, c->drain_by);
	return when;
}
