// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/link kmod/lib/prio/control */
/*
 * The transport prio tells a peer that a connection has ended. A peer makes connections only to
 * have them ended, and never takes that message. The memory held for it is bounded.
 */
#include <stdlib.h>

#include "tap.h"
#include "operator.h"
#include "prio_tells.h"
#include "stranger.h"

#define OF_ONE	512U	/* ends that a peer has not taken */
#define OF_ALL	4096U	/* all peers together; each has a few more */
#define FEW	4U
#define PEERS	(OF_ALL / OF_ONE)
#define GARBAGE	64	/* bytes of an invalid message */
#define AT_ONCE	20

static struct raw_server srv;
static struct stranger peers[PEERS + 1];

static void restore_settings(void)
{
	raw_file_write(PARAMETER("silence"), "3000000");
}

/* Makes connections that end with their first message. */
static void break_off(struct stranger *s, unsigned int nr)
{
	static const u8 message[GARBAGE] = "garbage";
	static struct stranger_train t;
	struct mrpc_prio_packet p;
	unsigned int i;

	for (i = 1; i <= nr; i++) {
		s->conn++;
		p = stranger_message(s, MRPC_PRIO_OPEN, GARBAGE, GARBAGE);
		stranger_train(&t, MRPC_PRIO_DATA_HDR + GARBAGE);
		stranger_put(&t, &p, message);
		stranger_send(s, &t, true);
		if (i % AT_ONCE == 0 || i == nr)
			CHECK(gauge_becomes("links", 0, 10000));
	}
}

/* The peer acknowledges each end, and answers PINGs. */
static void sees_all(const struct stranger *s)
{
	const struct mrpc_prio_note pong = { .op = MRPC_PRIO_PONG };
	struct mrpc_prio_packet p;

	while (stranger_heard(s, &p))
		if (p.type == MRPC_PRIO_DATA && !p.total)
			stranger_say(s, &(struct mrpc_prio_note){ .op = MRPC_PRIO_GRANT, .msg = p.msg });
	stranger_say(s, &pong);
}

TEST_LIMIT(not_taken, 240)
{
	unsigned int i;

	raw_server(&srv, "prio:127.0.0.1:0", 1);
	atexit(restore_settings);
	CHECK(raw_file_write(PARAMETER("silence"), "600000000"));
	for (i = 0; i <= PEERS; i++) {
		stranger_new(&peers[i], AF_INET, srv.s.port);
		stranger_associate(&peers[i]);
	}
	for (i = 0; i < PEERS; i++) {
		break_off(&peers[i], OF_ONE + AT_ONCE);
		CHECK(gauge_becomes("messages_out", (i + 1) * OF_ONE, 10000));
	}
	break_off(&peers[PEERS], AT_ONCE);
	CHECK(gauge_becomes("messages_out", OF_ALL + FEW, 10000));

	/* The messages are not kept for ever. */
	for (i = 1; i <= PEERS; i++)
		stranger_close(&peers[i]);
	CHECK(raw_file_write(PARAMETER("silence"), "1000000"));
	for (i = 0; i < 1500 * raw_patience() && gauge("messages_out"); i++) {
		sees_all(&peers[0]);
		raw_sleep(10 * RAW_MS);
	}
	CHECK_EQ(gauge("messages_out"), 0);
	/* Only existing messages count. */
	stranger_associate(&peers[0]);
	peers[0].msg = 0;
	break_off(&peers[0], AT_ONCE);
	CHECK(gauge_becomes("messages_out", AT_ONCE, 10000));
	stranger_leave(&peers[0]);
	CHECK(gauge_becomes("messages_out", 0, 10000));
	raw_server_stop(&srv);
	raw_must_unload("mrpc_prio");
}
