// SPDX-License-Identifier: GPL-2.0
#include "feature.h"

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
	return f->change && !f->waiting && f->want != f->said;
}

void mrpc_features_announced(struct mrpc_features *f)
{
	f->before = f->said;
	f->said = f->want;
	f->waiting = true;
}

int mrpc_features_hear(struct mrpc_features *f, u64 mask, u64 *answer)
{
	if (!f->change || f->owed)
		return -EPROTO;
	f->owed = true;
	*answer = mask & MRPC_FEATURES_LINK;
	return 0;
}

void mrpc_features_answer(struct mrpc_features *f, u64 answer)
{
	f->may = answer;
	f->owed = false;
}

int mrpc_features_ack(struct mrpc_features *f, u64 mask)
{
	if (!f->waiting || mask & ~f->said)
		return -EPROTO;
	f->waiting = false;
	f->before = 0;
	return 0;
}
