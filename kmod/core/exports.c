// SPDX-License-Identifier: GPL-2.0
/*
 * What engines and transports in modules of their own use of the pure parts, which know nothing
 * of modules.
 */
#include "lib/ds/bucket.h"
#include "lib/ds/hist.h"
#include "lib/ds/lheap.h"
#include "lib/message/field.h"
#include "lib/message/message.h"
#include "lib/message/message_walk.h"
#include "lib/message/meta.h"
#include "lib/message/schema.h"
#include "lib/message/segs.h"
#include "lib/message/utf8.h"
#include "lib/message/wire.h"

#define MRPC_EXPORT	EXPORT_SYMBOL_GPL

MRPC_EXPORT(mrpc_bucket_init);

MRPC_EXPORT(mrpc_bucket_set);

MRPC_EXPORT(mrpc_bucket_level);

MRPC_EXPORT(mrpc_bucket_when_limited);

MRPC_EXPORT(mrpc_field_compile);

MRPC_EXPORT(mrpc_field_read);

MRPC_EXPORT(mrpc_hist_merge);

MRPC_EXPORT(mrpc_hist_total);

MRPC_EXPORT(mrpc_hist_quantile);

MRPC_EXPORT(mrpc_lheap_add);

MRPC_EXPORT(mrpc_lheap_del);

MRPC_EXPORT(mrpc_lheap_move);

MRPC_EXPORT(mrpc_wire_decode);

MRPC_EXPORT(mrpc_msg_snapshot);

MRPC_EXPORT(mrpc_msg_explain);

MRPC_EXPORT(mrpc_schema_find_method);

MRPC_EXPORT(mrpc_seg_index);

MRPC_EXPORT(mrpc_seg_seek);

MRPC_EXPORT(mrpc_msg_member);

MRPC_EXPORT(mrpc_meta_key_valid);

MRPC_EXPORT(mrpc_utf8_valid);
