/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The services on mrpc. Handlers never block on calls of their own: these are
 * asynchronous, and the reply is sent when the last of them has ended.
 */
#ifndef _HOTEL_MRPC_SERVICES_H
#define _HOTEL_MRPC_SERVICES_H

#include "hotel.mrpc.h"
#include "program.h"

extern const struct mrpc_service_desc *const mrpc_services[SERVICES];

/* Operations, as mrpc_server_add() takes them. */
extern const struct hotel_Geo_ops geo_ops;
extern const struct hotel_Rate_ops rate_ops;
extern const struct hotel_Profile_ops profile_ops;
extern const struct hotel_Recommendation_ops recommendation_ops;
extern const struct hotel_Reservation_ops reservation_ops;
extern const struct hotel_User_ops user_ops;
extern const struct hotel_Search_ops search_ops;
extern const struct hotel_Frontend_ops frontend_ops;

/* Connections to the services that this one calls. */
extern struct mrpc_conn *mrpc_conns[SERVICES];

/*
 * Hotels' ids of a message with @root, at most HOTELS. Return: how many; negative if
 * there are more or one is no hotel's. And the other way round.
 */
int read_hotels(const void *root, struct mrpc_ref ids, unsigned int *hotels);
void write_hotels(struct mrpc_msg *msg, struct mrpc_ref *ids, const unsigned int *hotels,
		  unsigned int nr);

/* Ends a call that asks for what does not exist. */
int refuse(struct mrpc_call *call, const char *why);

#endif
