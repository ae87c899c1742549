// SPDX-License-Identifier: GPL-2.0
/*
 * What rules cost each message that they judge, built in one compilation unit, so that the
 * compiler sees through the calls between these files.
 */
#include "rules/rules.c"
#include "lib/rule/eval.c"
#include "lib/message/field.c"
#include "lib/ds/set.c"
