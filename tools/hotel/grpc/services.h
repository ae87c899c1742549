/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The services on gRPC, with its callback API, which its guide to performance prefers for
 * servers in C++. As on mrpc, none waits for the calls that it makes.
 */
#ifndef HOTEL_GRPC_SERVICES_H
#define HOTEL_GRPC_SERVICES_H

#include <memory>

#include <grpcpp/grpcpp.h>

#include "hotel.grpc.pb.h"
#include "program.h"

using Ids = google::protobuf::RepeatedPtrField<std::string>;

/* A call on its way. */
template <class Request, class Reply> struct Call {
	grpc::ClientContext context;
	Request request;
	Reply reply;
};

/* Each lives as long as the process. NULL for the other kind. */
std::unique_ptr<grpc::Service> make_leaf(enum service service);
std::unique_ptr<grpc::Service> make_caller(const struct service_options *o);

/* To @address, connected. Exits if that fails. */
std::shared_ptr<grpc::Channel> connect_to(enum service service, const char *address);

#endif
