// SPDX-License-Identifier: GPL-2.0
/* The hook by which the replica layer hears of its links. */
#include "core/carrier.h"

const struct mrpc_carrier_ops *mrpc_carrier_ops;
