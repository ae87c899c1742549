// SPDX-License-Identifier: GPL-2.0
/*
 * The ideal: every port of the network, the sender's first, serves the message with the
 * least left, knows how much that is, changes its mind at each packet, is never idle while
 * anything waits, and drops nothing; no host asks, acknowledges or waits for a round trip. It
 * is what pFabric would be with endless buffers and no need to tell ports what is left. A
 * network of packets cannot preempt more finely.
 */
#include "memory.h"
#include "sim.h"

/**
 * struct srpt_sender - what a host sends
 * @messages: those, unordered
 * @nr, @room: how many there are, and can be
 */
struct srpt_sender {
	struct srpt_message **messages;
	u32 nr;
	u32 room;
};

/**
 * struct srpt_message - a message under way, until it has come
 * @m: whose state it is
 * @sent: packets
 * @came: packets
 * @left: bytes that have not come
 */
struct srpt_message {
	struct sim_message *m;
	u32 sent;
	u32 came;
	u32 left;
};

static void *create(struct sim *sim)
{
	return sim_zalloc(sim->config.topology.hosts * sizeof(struct srpt_sender));
}

static void begin(struct sim *sim, struct sim_message *m)
{
	struct srpt_sender *s = (struct srpt_sender *)sim->transport_state + m->from;
	struct srpt_message *state = sim_zalloc(sizeof(*state));

	state->m = m;
	state->left = m->bytes;
	m->state = state;
	if (s->nr == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->messages = sim_realloc(s->messages, s->room * sizeof(*s->messages));
	}
	s->messages[s->nr++] = state;
	sim_net_poke(&sim->net, m->from);
}

static u32 unsent(const struct srpt_message *s)
{
	return s->m->bytes - min(s->sent * sim_segment(), s->m->bytes);
}

/* The port takes one packet at a time: until then the choice is open. */
static void room(struct sim *sim, u32 host)
{
	struct srpt_sender *s = (struct srpt_sender *)sim->transport_state + host;
	struct srpt_message *best;
	struct sim_packet *p;
	u32 i, at = 0;

	if (!s->nr)
		return;
	for (i = 1; i < s->nr; i++)
		if (unsent(s->messages[i]) < unsent(s->messages[at]) ||
		    (unsent(s->messages[i]) == unsent(s->messages[at]) &&
		     s->messages[i]->m->number < s->messages[at]->m->number))
			at = i;
	best = s->messages[at];
	p = sim_packet_new(&sim->net);
	p->from = host;
	p->to = best->m->to;
	p->message = best->m->number;
	p->flow = best->m->number;
	p->left = &best->left;
	p->length = sim_packet_part(best->m->bytes, best->sent);
	p->bytes = sim_packet_bytes(p->length);
	memcpy(p->data, &best, sizeof(best));
	if (++best->sent == sim_packets(best->m->bytes))
		s->messages[at] = s->messages[--s->nr];
	sim_net_send(&sim->net, p);
}

static void receive(struct sim *sim, u32 host, struct sim_packet *p)
{
	struct srpt_message *state;
	struct sim_message *m;

	(void)host;
	memcpy(&state, p->data, sizeof(state));
	state->left -= p->length;
	sim_packet_free(&sim->net, p);
	m = state->m;
	if (++state->came < sim_packets(m->bytes))
		return;
	free(state);
	sim_delivered(sim, m);
}

static void destroy(struct sim *sim)
{
	struct srpt_sender *s = sim->transport_state;
	u32 i;

	for (i = 0; i < sim->config.topology.hosts; i++)
		free(s[i].messages);
	free(s);
}

const struct sim_transport sim_srpt = {
	.name = "srpt",
	.what = "the ideal: every port sends the message with the least left",
	.srpt = true,
	.below = 1,
	.create = create,
	.begin = begin,
	.room = room,
	.receive = receive,
	.destroy = destroy,
};
