// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "peer_rank.h"

#include "lib/message/feature.h"

void peer_rank_begin(struct peer *p, uint64_t key, uint32_t heap)
{
	struct rank *r = &ranks[0];
	struct mrpc_cqe cqe;

	ranks_open(1, heap);
	if (raw_serve(&r->s, "tcp:127.0.0.1:0") <= 0)
		raw_die("serve: %s", r->s.why);
	memset(p, 0, sizeof(*p));
	p->features = MRPC_FEATURE_GROUP | MRPC_FEATURE_STREAM;
	peer_connect(p, r->s.port);
	peer_hello(p);
	peer_call(p, peer_id(p, 0), RAW_ACK, 1, 10);
	raw_expect(&r->qp, &cqe, MRPC_CQE_REQUEST, RANKS_WAIT);
	r->conn[1] = cqe.conn;
	raw_done(&r->s, &cqe);
	peer_expect(p, MRPC_WIRE_HELLO_ACK);
	if (rank_join(r, 0, 2, key, 0) || rank_link(r, 1, r->conn[1]))
		raw_die("rank 0 joins: %s", r->s.why);
}

void peer_rank_end(struct peer *p)
{
	peer_close(p);
	ranks_end();
	if (!raw_sessions(0, 10000 * raw_patience()))
		raw_die("a session is left");
}
