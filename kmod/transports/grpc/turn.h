/* SPDX-License-Identifier: GPL-2.0 */
/* Turns of the streams of a link of gRPC. */
#ifndef MRPC_TRANSPORTS_GRPC_TURN_H
#define MRPC_TRANSPORTS_GRPC_TURN_H

struct grpc_link;
struct grpc_stream;

#define GRPC_KVECS	16

/* What became of a stream's turn. */
enum grpc_turn {
	GRPC_TURN_ON,		/* something was put; it is in the list for another turn, or done */
	GRPC_TURN_FULL,		/* the stage has no room */
	GRPC_TURN_DEAD,		/* the connection must end */
};

enum grpc_turn grpc_turn(struct grpc_link *gl, struct grpc_stream *s);
void grpc_data_done(struct grpc_link *gl, struct grpc_stream *s);
void grpc_unsend(struct grpc_link *gl, struct grpc_stream *s);

#endif /* MRPC_TRANSPORTS_GRPC_TURN_H */
