// SPDX-License-Identifier: GPL-2.0
#include "lib/message/feature.h"

#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#include "lib/ds/claim_native.h"
#endif

void mrpc_features_fix(struct mrpc_features *f)
{
	f->said = f->want;
	f->may = f->want;
}

u64 mrpc_features_offer(struct mrpc_features *f)
{
	f->said = f->want;
	return MRPC_FEATURE_CHANGE | f->want;
}

u64 mrpc_features_choose(struct mrpc_features *f, u64 offered)
{
	f->change = offered & MRPC_FEATURE_CHANGE;
	f->said = offered & f->want;
	f->may = f->said;
	return f->said | (f->change ? MRPC_FEATURE_CHANGE : 0);
}

int mrpc_features_chosen(struct mrpc_features *f, u64 chosen)
{
	if (chosen & ~(MRPC_FEATURE_CHANGE | f->said))
		return -EPROTO;
	f->change = chosen & MRPC_FEATURE_CHANGE;
	f->said &= chosen;
	f->may = f->said;
	return 0;
}

bool mrpc_features_due(const struct mrpc_features *f)
{
	return f->change && !f->waiting && mrpc_features_wanted(f) != f->said;
}

void mrpc_features_announced(struct mrpc_features *f)
{
	f->before = f->said;
	f->said = mrpc_features_wanted(f);
	f->waiting = true;
}

int mrpc_features_hear(struct mrpc_features *f, u64 mask, u64 *answer)
{
	if (!f->change || f->heard - READ_ONCE(f->answered) >= MRPC_FEATURES_OWED)
		return -EPROTO;
	f->heard++;
	*answer = mask & MRPC_FEATURES_LINK;
	return 0;
}

void mrpc_features_answer(struct mrpc_features *f, u64 answer)
{
	f->may = (f->may & ~MRPC_FEATURES_LINK) | answer;
}

void mrpc_features_answered(struct mrpc_features *f)
{
	WRITE_ONCE(f->answered, f->answered + 1);
}

int mrpc_features_ack(struct mrpc_features *f, u64 mask)
{
	if (!f->waiting || mask & ~f->said)
		return -EPROTO;
	f->waiting = false;
	f->before = 0;
	return 0;
}
