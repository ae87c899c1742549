/* SPDX-License-Identifier: GPL-2.0 */
/* gRPC's own peer in tests of interoperability: that of C++. */
#ifndef GRPC_CPP_STOCK_H
#define GRPC_CPP_STOCK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <string>

#include <grpcpp/grpcpp.h>

#include "interop.grpc.pb.h"

/* Ends the program unless @cond holds. */
#define MUST(cond)								\
	do {									\
		if (!(cond)) {							\
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);	\
			exit(1);						\
		}								\
	} while (0)

/* The library has it for its own tests. */
uint32_t grpc_call_test_only_get_message_flags(grpc_call *call);

namespace grpc {
namespace testing {

constexpr char ECHO_INITIAL[] = "x-grpc-test-echo-initial";
constexpr char ECHO_TRAILING[] = "x-grpc-test-echo-trailing-bin";
constexpr char SLEEP_MS[] = "x-test-sleep-ms";

/* Was the message that came last, of a call of this kind, compressed? */
inline bool was_compressed(grpc_call *call)
{
	return grpc_call_test_only_get_message_flags(call) & 0x40000000u;
}

/* Friends of the contexts, by these names: for tests of this kind. */
class InteropClientContextInspector {
public:
	static bool compressed(const ClientContext &context) { return was_compressed(context.call()); }
};

class InteropServerContextInspector {
public:
	static bool compressed(const ServerContext &context)
	{
		return was_compressed(context.call_.call);
	}
};

inline Payload *zeroes(int size)
{
	Payload *payload = new Payload;

	payload->set_body(std::string(size, '\0'));
	return payload;
}

template <class Message> int size_of(const Message &message)
{
	const std::string &body = message.payload().body();

	MUST(std::all_of(body.begin(), body.end(), [](char c) { return !c; }));
	return body.size();
}

/* What the environment names a file for, or nothing. */
std::string file_of(const char *name);

void serve(const std::string &address);
void call(const std::string &address);

} /* namespace testing */
} /* namespace grpc */

#endif /* GRPC_CPP_STOCK_H */
