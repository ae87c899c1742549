// SPDX-License-Identifier: GPL-2.0
/*
 * Calls through Cap'n Proto's two-party RPC, measured: client and server.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

#include <capnp/message.h>
#include <capnp/rpc-twoparty.h>
#include <kj/async-io.h>

#include "bench.capnp.h"
#include "peer.h"

static const char usage[] =
	"Usage: capnp_bench [OPTION...] MODE [ADDRESS]\n"
	"\n"
	"  serve ADDRESS    answer calls until SIGTERM, with a thread and its event loop\n"
	"                   for each connection\n"
	"  call ADDRESS     calls, -f of them in flight\n"
	"  connect ADDRESS  each call over a new connection\n"
	"  settings         what is not the library's default\n"
	"\n"
	"ADDRESS is HOST:PORT, of IPv4.\n";

static struct sockaddr_in parse(const char *address)
{
	const char *colon = strrchr(address, ':');
	struct sockaddr_in in = {};

	if (!colon || inet_pton(AF_INET, std::string(address, colon).c_str(), &in.sin_addr) != 1)
		errx(2, "%s is no address", address);
	in.sin_family = AF_INET;
	in.sin_port = htons((uint16_t)atoi(colon + 1));
	return in;
}

static int make_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

static void no_delay(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(1, "TCP_NODELAY");
}

/* Messages of any size, from a peer that is trusted. */
static capnp::ReaderOptions reader_options(void)
{
	capnp::ReaderOptions options;

	options.traversalLimitInWords = UINT64_MAX;
	return options;
}

static int settings(void)
{
	printf("Cap'n Proto %d.%d.%d: two-party RPC, TCP_NODELAY, no traversal limit, a thread and its "
	       "event loop for each connection\n", CAPNP_VERSION / 1000000,
	       CAPNP_VERSION / 1000 % 1000, CAPNP_VERSION % 1000);
	return 0;
}

/* -- server ------------------------------------------------------------------------ */

class BenchImpl final : public bench::Bench::Server {
public:
	explicit BenchImpl(size_t reply) : payload(reply, 'm') {}

	kj::Promise<void> call(CallContext context) override
	{
		const auto *bytes = reinterpret_cast<const kj::byte *>(payload.data());

		context.getResults(capnp::MessageSize { payload.size() / 8 + 8, 0 })
			.setPayload(kj::arrayPtr(bytes, payload.size()));
		return kj::READY_NOW;
	}

private:
	const std::string payload;
};

static void serve_one(int fd, size_t reply)
{
	auto io = kj::setupAsyncIo();
	auto stream = io.lowLevelProvider->wrapSocketFd(fd,
			kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
			kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC);
	capnp::TwoPartyVatNetwork network(*stream, capnp::rpc::twoparty::Side::SERVER,
					  reader_options());
	auto rpc = capnp::makeRpcServer(network, bench::Bench::Client(kj::heap<BenchImpl>(reply)));

	network.onDisconnect().wait(io.waitScope);
}

static int serve(const struct options &o)
{
	struct sockaddr_in at = parse(o.address);
	int fd = make_socket(), conn, one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 128))
		err(1, "%s", o.address);
	puts("ready");
	fflush(stdout);
	for (;;) {
		conn = accept4(fd, nullptr, nullptr, SOCK_CLOEXEC);
		if (conn < 0)
			err(1, "accept");
		no_delay(conn);
		std::thread(serve_one, conn, o.reply).detach();
	}
}

/* -- client ------------------------------------------------------------------------ */

/* A connection of a thread. */
class Peer {
public:
	Peer(kj::AsyncIoContext &io, const struct options *o)
		: stream(io.lowLevelProvider->wrapSocketFd(connect_to(o->address),
				kj::LowLevelAsyncIoProvider::TAKE_OWNERSHIP |
				kj::LowLevelAsyncIoProvider::ALREADY_CLOEXEC)),
		  network(*stream, capnp::rpc::twoparty::Side::CLIENT, reader_options()),
		  rpc(capnp::makeRpcClient(network)), service(bootstrap())
	{
	}

private:
	kj::Own<kj::AsyncIoStream> stream;
	capnp::TwoPartyVatNetwork network;
	capnp::RpcSystem<capnp::rpc::twoparty::VatId> rpc;

	static int connect_to(const char *address)
	{
		struct sockaddr_in at = parse(address);
		int fd = make_socket();

		if (connect(fd, (struct sockaddr *)&at, sizeof(at)))
			err(1, "%s", address);
		no_delay(fd);
		return fd;
	}

	bench::Bench::Client bootstrap(void)
	{
		capnp::MallocMessageBuilder message;
		auto vat = message.initRoot<capnp::rpc::twoparty::VatId>();

		vat.setSide(capnp::rpc::twoparty::Side::SERVER);
		return rpc.bootstrap(vat).castAs<bench::Bench>();
	}

public:
	bench::Bench::Client service;
};

static void check(capnp::Response<bench::Bench::CallResults> &response)
{
	if (!response.getPayload().size())
		errx(1, "the reply is empty");
}

static kj::Promise<capnp::Response<bench::Bench::CallResults>>
start_call(bench::Bench::Client &service, const std::string &payload)
{
	auto request = service.callRequest(capnp::MessageSize { payload.size() / 8 + 8, 0 });

	request.setPayload(kj::arrayPtr(reinterpret_cast<const kj::byte *>(payload.data()),
					payload.size()));
	return request.send().dropPipeline();
}

/* One call after the other, until @m has enough; several such run beside each other. */
static kj::Promise<void> call_on(bench::Bench::Client &service, const std::string &payload,
				 struct measure *m, bool &more)
{
	uint64_t began = ticks();

	return start_call(service, payload).then([&service, &payload, m, &more, began]
			(capnp::Response<bench::Bench::CallResults> &&response) -> kj::Promise<void> {
		check(response);
		if (!more)
			return kj::READY_NOW;
		more = measure_call(m, began);
		if (more)
			return call_on(service, payload, m, more);
		measure_end(m);
		return kj::READY_NOW;
	});
}

static void run_calls(struct measure *m, const struct options *o)
{
	const std::string payload(o->request, 'm');
	auto io = kj::setupAsyncIo();
	Peer peer(io, o);
	bool more = true;

	measure_init(m, o);
	auto calls = kj::heapArrayBuilder<kj::Promise<void>>(o->in_flight);
	for (unsigned int i = 0; i < o->in_flight; i++)
		calls.add(call_on(peer.service, payload, m, more));
	kj::joinPromises(calls.finish()).wait(io.waitScope);
}

static void run_sync(struct measure *m, const struct options *o)
{
	const std::string payload(o->request, 'm');
	auto io = kj::setupAsyncIo();
	Peer peer(io, o);
	uint64_t began;

	measure_init(m, o);
	do {
		began = ticks();
		auto response = start_call(peer.service, payload).wait(io.waitScope);
		check(response);
	} while (measure_call(m, began));
	measure_end(m);
}

static void run_connect(struct measure *m, const struct options *o)
{
	const std::string payload(o->request, 'm');
	auto io = kj::setupAsyncIo();
	uint64_t began;
	bool more;

	measure_init(m, o);
	do {
		began = ticks();
		Peer peer(io, o);
		auto response = start_call(peer.service, payload).wait(io.waitScope);
		check(response);
		more = measure_call(m, began);
	} while (more);
	measure_end(m);
}

int main(int argc, char **argv)
{
	struct options o;

	options_parse(&o, argc, argv, usage);
	return run_mode(o, usage, settings, {
		{ "serve", serve, nullptr },
		{ "call", nullptr, o.in_flight > 1 ? run_calls : run_sync },
		{ "connect", nullptr, run_connect },
	});
}
