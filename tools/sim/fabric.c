// SPDX-License-Identifier: GPL-2.0
/*
 * The queue of a port of the ideal fabric: of the messages that have packets here the one
 * with the least left goes first, with its packets in their order. All ports know what is
 * left of a message, as of now, which real ones would have to be told.
 */
#include "memory.h"
#include "net.h"

/**
 * struct sim_fabric_message - what a port has of one message
 * @message: which
 * @left: bytes of it that have not come
 * @head, @tail: its packets that are here
 */
struct sim_fabric_message {
	u64 message;
	const u32 *left;
	struct sim_packet *head;
	struct sim_packet *tail;
};

void sim_fabric_put(struct sim_port *port, struct sim_packet *p)
{
	struct sim_fabric_message *m = port->messages, *end = m + port->nr_messages;

	p->next = NULL;
	while (m < end && m->message != p->message)
		m++;
	if (m < end) {
		m->tail->next = p;
		m->tail = p;
		return;
	}
	if (port->nr_messages == port->room) {
		port->room = port->room ? 2 * port->room : 8;
		port->messages = sim_realloc(port->messages, port->room * sizeof(*m));
	}
	port->messages[port->nr_messages++] = (struct sim_fabric_message){
		.message = p->message, .left = p->left, .head = p, .tail = p,
	};
}

struct sim_packet *sim_fabric_take(struct sim_port *port)
{
	struct sim_fabric_message *m, *best = port->messages;
	struct sim_packet *p;

	for (m = best + 1; m < port->messages + port->nr_messages; m++)
		if (*m->left < *best->left || (*m->left == *best->left && m->message < best->message))
			best = m;
	p = best->head;
	best->head = p->next;
	if (!best->head)
		*best = port->messages[--port->nr_messages];
	return p;
}

void sim_fabric_fini(struct sim_port *port)
{
	while (port->nr_messages)
		sim_packet_free(port->net, sim_fabric_take(port));
	free(port->messages);
}
