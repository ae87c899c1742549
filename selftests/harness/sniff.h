/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packets of the transport prio as they pass a device.
 */
#ifndef SNIFF_H
#define SNIFF_H

#include "lib/prio/wire.h"

/**
 * struct sniffed - an IP packet, or several that go as one and are segmented below
 * @leaves: else it has come; over lo each does both
 * @family: AF_INET or AF_INET6
 * @tos: DSCP and ECN
 * @len: bytes of it, with the IP header
 * @datagrams: how many it is
 * @largest: bytes of the largest of these as it will be on the line, with the IP header
 * @nr: packets of the protocol in it, of which the first is @first
 * @notes: entries of @first, if that is a CONTROL packet
 */
struct sniffed {
	bool leaves;
	int family;
	u8 tos;
	u32 len;
	u32 datagrams;
	u32 largest;
	u32 nr;
	struct mrpc_prio_packet first;
	struct mrpc_prio_note notes[MRPC_PRIO_MAX_CONTROL];
};

/* Begins to look at a device of this namespace. */
int sniff_open(const char *dev);
/*
 * The next packet from or to @port, oldest first; dies if one is malformed, or if any could not be
 * kept. Return: false: there is none.
 */
bool sniff_next(int fd, u16 port, struct sniffed *s);

#endif /* SNIFF_H */
