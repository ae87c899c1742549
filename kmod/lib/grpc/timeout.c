// SPDX-License-Identifier: GPL-2.0
#include "lib/grpc/timeout.h"
#include "lib/grpc/field.h"

#define TIMEOUT_MAX_VALUE	99999999	/* eight digits */
/* The core counts in nanoseconds, and adds the time to a clock. */
#define TIMEOUT_MAX_US		((u64)S64_MAX / 4 / 1000)

/* Microseconds of a unit; 0: less than one, or no unit. */
static u64 timeout_unit(u8 unit)
{
	switch (unit) {
	case 'H':
		return 3600000000ULL;
	case 'M':
		return 60000000;
	case 'S':
		return 1000000;
	case 'm':
		return 1000;
	case 'u':
		return 1;
	default:
		return 0;
	}
}

int mrpc_grpc_timeout_parse(const u8 *text, u32 len, u64 *us)
{
	s64 value;
	u64 unit;

	if (len < 2 || len > MRPC_GRPC_TIMEOUT_LEN)
		return -EINVAL;
	value = mrpc_grpc_number(text, len - 1, TIMEOUT_MAX_VALUE);
	unit = timeout_unit(text[len - 1]);
	if (value < 0 || (!unit && text[len - 1] != 'n'))
		return -EINVAL;
	if (!value)
		return -ETIME;
	/* Eight digits of hours are below 2^59 microseconds. */
	*us = unit ? value * unit : ((u32)value + 999) / 1000;
	if (*us > TIMEOUT_MAX_US)
		*us = 0;
	return 0;
}

u32 mrpc_grpc_timeout_format(u64 us, u8 out[MRPC_GRPC_TIMEOUT_LEN])
{
	static const struct {
		char unit;
		u16 next;	/* how many of it make the next unit */
	} units[] = { { 'u', 1000 }, { 'm', 1000 }, { 'S', 60 }, { 'M', 60 }, { 'H', 0 } };
	u8 digits[MRPC_GRPC_TIMEOUT_LEN];
	u32 nr = 0, i = 0, len, value;

	for (; us > TIMEOUT_MAX_VALUE && units[i].next; i++) {
		u32 rest;

		us = div_u64_rem(us, units[i].next, &rest);
		us += !!rest;
	}
	value = min_t(u64, us, TIMEOUT_MAX_VALUE);
	do {
		digits[nr++] = '0' + value % 10;
		value /= 10;
	} while (value);
	for (len = 0; len < nr; len++)
		out[len] = digits[nr - 1 - len];
	out[len++] = units[i].unit;
	return len;
}
