// SPDX-License-Identifier: GPL-2.0
#include "lib/message/wire.h"

void mrpc_wire_encode(const struct mrpc_frame *frame, struct mrpc_wire_hdr *hdr)
{
	memcpy(hdr, frame, sizeof(*hdr));
	hdr->magic = cpu_to_le32(MRPC_WIRE_MAGIC);
	hdr->version = MRPC_WIRE_VERSION;
	hdr->resv = 0;
}

static int wire_refuse(const char **why, const char *what)
{
	*why = what;
	return -EPROTO;
}

static bool wire_no_message(const struct mrpc_frame *f)
{
	return !f->msg.structs && !f->msg.text && !f->msg.bytes;
}

/* What types without a message leave at zero. */
static int wire_check_control(struct mrpc_frame *f, const char **why)
{
	bool hello = f->type == MRPC_WIRE_HELLO || f->type == MRPC_WIRE_HELLO_ACK;

	if (f->flags & ~MRPC_WIRE_CRC)
		return wire_refuse(why, "a control frame has flags of a message");
	if (f->call_id && (hello || f->type == MRPC_WIRE_BYE))
		return wire_refuse(why, "a frame without a call has a call id");
	if (f->msg_no || f->method || f->status || f->priority || f->detail_len ||
	    f->max_reply || !wire_no_message(f) ||
	    (f->remaining_us && f->type != MRPC_WIRE_CREDIT))
		return wire_refuse(why, "a control frame has fields of a message");
	if (hello ? !f->meta_len : f->meta_len)
		return wire_refuse(why, hello ? "a hello has no body" :
				   "a control frame has a body");
	if (f->meta_len > MRPC_WIRE_MAX_HELLO)
		return wire_refuse(why, "a hello is too long");
	f->prefix = mrpc_frame_prefix(f);
	return 0;
}

static int wire_check_call(const struct mrpc_frame *f, const char **why)
{
	if (f->msg_no)
		return wire_refuse(why, "a call has the number of a message");
	if (f->status | f->detail_len)
		return wire_refuse(why, "a call has fields of a reply");
	if (!(f->flags & MRPC_WIRE_MSG) != !(f->flags & MRPC_WIRE_END))
		return wire_refuse(why, "a call has a message and more to come, or neither");
	return 0;
}

static int wire_check_reply(const struct mrpc_frame *f, const char **why)
{
	if (f->method | f->priority | f->max_reply | f->remaining_us)
		return wire_refuse(why, "a reply has fields of a call");
	if (!(f->flags & MRPC_WIRE_END))
		return wire_refuse(why, "a reply is not the end");
	if (f->flags & MRPC_WIRE_MSG && f->status != MRPC_OK)
		return wire_refuse(why, "a reply has a message but is not OK");
	return 0;
}

static int wire_check_stream(const struct mrpc_frame *f, const char **why)
{
	if (f->status | f->detail_len | f->method | f->priority | f->max_reply | f->remaining_us)
		return wire_refuse(why, "a message of a stream has fields of a call or reply");
	if (!(f->flags & (MRPC_WIRE_MSG | MRPC_WIRE_END)) && !f->meta_len)
		return wire_refuse(why, "a message of a stream has nothing");
	return 0;
}

static int wire_check_chunk(struct mrpc_frame *f, u32 max_message, const char **why)
{
	bool first = f->status == MRPC_OK && !f->msg_no;

	if (f->flags & ~MRPC_WIRE_CRC || f->method | f->priority | f->max_reply | f->remaining_us)
		return wire_refuse(why, "a chunk has fields of a call or reply");
	if (f->status > MRPC_STATUS_MAX)
		return wire_refuse(why, "a status is unknown");
	if (f->status != MRPC_OK && f->msg_no > MRPC_WIRE_LEFT)
		return wire_refuse(why, "the end of a group is of an unknown kind");
	if (f->detail_len > (f->status == MRPC_OK ? 0 : MRPC_MAX_DETAIL))
		return wire_refuse(why, "a chunk's detail is too long");
	if (f->meta_len != (first ? MRPC_WIRE_CHUNK_BODY : 0))
		return wire_refuse(why, first ? "the first chunk has no body" :
				   "a chunk that is not the first one has a body");
	if (f->msg.structs || f->msg.text || (f->status != MRPC_OK && f->msg.bytes) ||
	    !IS_ALIGNED(f->msg.bytes, 8))
		return wire_refuse(why, "a chunk has a section that it may not have");
	if (f->msg.bytes > min(max_message, MRPC_WIRE_CHUNK_BYTES))
		return wire_refuse(why, "a chunk is too large");
	f->prefix = mrpc_frame_prefix(f);
	return 0;
}

static int wire_check_strategy(struct mrpc_frame *f, const char **why)
{
	if (f->flags & ~MRPC_WIRE_CRC || f->call_id | f->msg_no | f->status | f->detail_len |
	    f->method | f->priority | f->max_reply | f->remaining_us || !wire_no_message(f))
		return wire_refuse(why, "a strategy has fields of another frame");
	if (f->meta_len <= MRPC_WIRE_STRATEGY_BODY || f->meta_len > MRPC_WIRE_STRATEGY_MAX)
		return wire_refuse(why, "a strategy is of no group that there can be");
	f->prefix = mrpc_frame_prefix(f);
	return 0;
}

static int wire_check_message(struct mrpc_frame *f, u32 max_message, const char **why)
{
	u64 total;
	int err;

	if (f->meta_len > MRPC_MAX_META)
		return wire_refuse(why, "metadata is too long");
	if (f->detail_len > MRPC_MAX_DETAIL)
		return wire_refuse(why, "a status detail is too long");
	f->prefix = mrpc_frame_prefix(f);
	if (f->status > MRPC_STATUS_MAX)
		return wire_refuse(why, "a status is unknown");
	if (f->type == MRPC_WIRE_CALL)
		err = wire_check_call(f, why);
	else if (f->type == MRPC_WIRE_REPLY)
		err = wire_check_reply(f, why);
	else
		err = wire_check_stream(f, why);
	if (err)
		return err;
	if (!(f->flags & MRPC_WIRE_MSG))
		return wire_no_message(f) ? 0 : wire_refuse(why, "an absent message has lengths");
	if (!f->msg.structs || !IS_ALIGNED(f->msg.structs | f->msg.bytes, 8))
		return wire_refuse(why, "a section's length is not a multiple of 8");
	total = mrpc_msg_total(&f->msg);
	if (total > MRPC_MAX_MESSAGE)
		return wire_refuse(why, "a message is larger than any may be");
	f->head_len = total - f->msg.bytes;
	if (total > max_message) {
		*why = "a message is larger than accepted here";
		return -EMSGSIZE;
	}
	return 0;
}

int mrpc_wire_decode(const struct mrpc_wire_hdr *hdr, u32 max_message,
		     struct mrpc_frame *frame, const char **why)
{
	struct mrpc_frame *f = frame;

	memcpy(f, hdr, sizeof(*hdr));
	f->head_len = 0;

	if (f->magic != MRPC_WIRE_MAGIC)
		return wire_refuse(why, "the peer does not speak mrpc");
	if (f->version != MRPC_WIRE_VERSION) {
		*why = "the peer speaks another version of mrpc";
		return -EPROTONOSUPPORT;
	}
	if (f->flags & ~MRPC_WIRE_FLAGS)
		return wire_refuse(why, "a frame has unknown flags");
	if (f->resv)
		return wire_refuse(why, "a frame has reserved bytes that are not zero");
	if (f->crc && !(f->flags & MRPC_WIRE_CRC))
		return wire_refuse(why, "a frame has a checksum without the flag");

	switch (f->type) {
	case MRPC_WIRE_CALL:
	case MRPC_WIRE_REPLY:
	case MRPC_WIRE_MESSAGE:
		return wire_check_message(f, max_message, why);
	case MRPC_WIRE_CHUNK:
		return wire_check_chunk(f, max_message, why);
	case MRPC_WIRE_STRATEGY:
		return wire_check_strategy(f, why);
	case MRPC_WIRE_HELLO:
	case MRPC_WIRE_HELLO_ACK:
	case MRPC_WIRE_CANCEL:
	case MRPC_WIRE_PING:
	case MRPC_WIRE_PONG:
	case MRPC_WIRE_BYE:
	case MRPC_WIRE_FEATURES:
	case MRPC_WIRE_FEATURES_ACK:
	case MRPC_WIRE_CREDIT:
		return wire_check_control(f, why);
	default:
		return wire_refuse(why, "a frame's type is unknown");
	}
}
