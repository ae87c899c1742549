// SPDX-License-Identifier: GPL-2.0
/*
 * Calls through Thrift, measured: client and server. Several calls are in flight as
 * several requests sent before their replies are read, in order, on one connection.
 */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include <thrift/TOutput.h>
#include <thrift/config.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/transport/TSocket.h>

#include "Bench.h"
#include "peer.h"

using namespace apache::thrift;
using namespace apache::thrift::protocol;
using namespace apache::thrift::transport;

static const char usage[] =
	"Usage: thrift_bench [OPTION...] MODE [ADDRESS]\n"
	"\n"
	"  serve ADDRESS    answer calls until SIGTERM, with a thread for each connection\n"
	"  call ADDRESS     calls, -f of them in flight\n"
	"  connect ADDRESS  each call over a new connection\n"
	"  settings         what is not the library's default\n"
	"\n"
	"ADDRESS is HOST:PORT.\n";

typedef TCompactProtocolT<TBufferedTransport> Protocol;

struct Address {
	std::string host;
	int port;
};

static Address parse(const char *address)
{
	const char *colon = strrchr(address, ':');

	if (!colon)
		errx(2, "%s has no port", address);
	return { std::string(address, colon), atoi(colon + 1) };
}

static int settings(void)
{
	printf("Thrift %s: TThreadedServer, TBufferedTransport of 16 KiB, TCompactProtocol, "
	       "TCP_NODELAY\n", PACKAGE_VERSION);
	return 0;
}

/* -- server ------------------------------------------------------------------------ */

class Handler : public bench::BenchIf {
public:
	explicit Handler(size_t reply) : payload(reply, 'm') {}

	void Call(bench::Reply &reply, const bench::Request &) override
	{
		reply.__set_payload(payload);
	}

private:
	const std::string payload;
};

#define BUFFER	16384

class Transports : public TTransportFactory {
public:
	std::shared_ptr<TTransport> getTransport(std::shared_ptr<TTransport> socket) override
	{
		return std::make_shared<TBufferedTransport>(socket, BUFFER);
	}
};

class Ready : public server::TServerEventHandler {
public:
	void preServe() override
	{
		puts("ready");
		fflush(stdout);
	}
};

static int serve(const struct options &o)
{
	const Address at = parse(o.address);
	auto socket = std::make_shared<TServerSocket>(at.host, at.port);
	server::TThreadedServer server(
		std::make_shared<bench::BenchProcessorT<Protocol>>(std::make_shared<Handler>(o.reply)),
		socket, std::make_shared<Transports>(),
		std::make_shared<TCompactProtocolFactoryT<TBufferedTransport>>());

	/* No poll() before each read: only a signal stops this server. */
	socket->setInterruptableChildren(false);
	server.setServerEventHandler(std::make_shared<Ready>());
	server.serve();
	return 0;
}

/* -- client ------------------------------------------------------------------------ */

typedef bench::BenchClientT<Protocol> Client;

static std::unique_ptr<Client> connect_client(const struct options *o)
{
	const Address at = parse(o->address);
	auto socket = std::make_shared<TSocket>(at.host, at.port);

	socket->setNoDelay(true);
	socket->open();
	return std::make_unique<Client>(
		std::make_shared<Protocol>(std::make_shared<TBufferedTransport>(socket, BUFFER)));
}

static bench::Request make_request(const struct options *o)
{
	bench::Request request;

	request.__set_payload(std::string(o->request, 'm'));
	return request;
}

static void receive(Client *client)
{
	bench::Reply reply;

	client->recv_Call(reply);
	if (reply.payload.empty())
		errx(1, "the reply is empty");
}

static void run_calls(struct measure *m, const struct options *o)
{
	const bench::Request request = make_request(o);
	std::vector<uint64_t> began(o->in_flight);
	uint64_t sent = 0, ended = 0;
	auto client = connect_client(o);

	measure_init(m, o);
	do {
		for (; sent - ended < o->in_flight; sent++) {
			began[sent % o->in_flight] = ticks();
			client->send_Call(request);
		}
		receive(client.get());
	} while (measure_call(m, began[ended++ % o->in_flight]));
	measure_end(m);
}

static void run_connect(struct measure *m, const struct options *o)
{
	const bench::Request request = make_request(o);
	uint64_t began;
	bool more;

	measure_init(m, o);
	do {
		began = ticks();
		auto client = connect_client(o);
		client->send_Call(request);
		receive(client.get());
		more = measure_call(m, began);
	} while (more);
	measure_end(m);
}

int main(int argc, char **argv)
{
	struct options o;

	options_parse(&o, argc, argv, usage);
	/* That a client goes is no news. */
	GlobalOutput.setOutputFunction([](const char *) {});
	try {
		return run_mode(o, usage, settings, {
			{ "serve", serve, nullptr }, { "call", nullptr, run_calls },
			{ "connect", nullptr, run_connect },
		});
	} catch (const TException &e) {
		errx(1, "%s", e.what());
	}
}
