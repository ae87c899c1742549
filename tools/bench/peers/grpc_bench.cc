// SPDX-License-Identifier: GPL-2.0
/*
 * Calls through gRPC, measured: client and server, with its synchronous and its
 * asynchronous interface.
 */
#include <err.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "bench.grpc.pb.h"
#include "peer.h"

static const char usage[] =
	"Usage: grpc_bench [OPTION...] MODE [ADDRESS]\n"
	"\n"
	"  serve ADDRESS        answer calls until SIGTERM: the library's threads\n"
	"  serve-async ADDRESS  the same: -j threads, each with a completion queue\n"
	"  sync ADDRESS         one call at a time\n"
	"  async ADDRESS        several in flight on a completion queue\n"
	"  chat ADDRESS         messages of one stream, each answered by one: -f of them in\n"
	"                       flight; as sync\n"
	"  collect ADDRESS      messages of one stream, which are read and not answered\n"
	"  connect ADDRESS      as sync, each call over a new connection\n"
	"  idle ADDRESS         memory of -n connections over which one call was made\n"
	"  settings             what is not the library's default\n"
	"\n"
	"ADDRESS is HOST:PORT or unix:PATH.\n";

/* As many as are measured; HTTP/2 peers in between have to allow them, too. */
#define STREAMS		1024

/*
 * A channel for each thread, none shared, as gRPC's guide to performance advises; and
 * messages of any size. It sets TCP_NODELAY itself. Flow control windows are grown by
 * its estimate of the bandwidth-delay product, which is on by default.
 */
static grpc::ChannelArguments client_arguments(void)
{
	grpc::ChannelArguments args;

	args.SetMaxReceiveMessageSize(INT_MAX);
	args.SetMaxSendMessageSize(INT_MAX);
	args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
	args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
	return args;
}

static int settings(void)
{
	printf("gRPC %s: use_local_subchannel_pool=1 max_receive_message_length=max "
	       "max_concurrent_streams=%d; servers: sync, the library's threads (at most 2 pollers); "
	       "async, one completion queue for each thread\n", grpc::Version().c_str(), STREAMS);
	return 0;
}

/* -- certificates ------------------------------------------------------------------- */

static std::string read_file(const struct options &o, const char *name)
{
	std::ifstream file(std::string(o.certs) + "/" + name);
	std::stringstream text;

	text << file.rdbuf();
	if (text.str().empty())
		errx(1, "%s/%s: nothing is there", o.certs, name);
	return text.str();
}

static std::shared_ptr<grpc::ServerCredentials> server_credentials(const struct options &o)
{
	grpc::SslServerCredentialsOptions tls;

	if (!o.certs)
		return grpc::InsecureServerCredentials();
	tls.pem_key_cert_pairs.push_back({ read_file(o, "server.key"), read_file(o, "server.pem") });
	return grpc::SslServerCredentials(tls);
}

static std::shared_ptr<grpc::ChannelCredentials> client_credentials(const struct options &o)
{
	grpc::SslCredentialsOptions tls;

	if (!o.certs)
		return grpc::InsecureChannelCredentials();
	tls.pem_root_certs = read_file(o, "ca.pem");
	return grpc::SslCredentials(tls);
}

/* -- server ------------------------------------------------------------------------ */

static sigset_t ends;

/* Before a server starts threads, so that all have it blocked. */
static void block_ends(void)
{
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, nullptr);
}

static void wait_for_end(void)
{
	int sig;

	puts("ready");
	fflush(stdout);
	sigwait(&ends, &sig);
}

static void configure(grpc::ServerBuilder &builder, const struct options &o)
{
	builder.AddListeningPort(o.address, server_credentials(o));
	builder.SetMaxReceiveMessageSize(INT_MAX);
	builder.SetMaxSendMessageSize(INT_MAX);
	builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, STREAMS);
}

class SyncService final : public bench::Bench::Service {
public:
	explicit SyncService(size_t reply) : payload(reply, 'm') {}

	grpc::Status Call(grpc::ServerContext *, const bench::Request *, bench::Reply *reply) override
	{
		reply->set_payload(payload);
		return grpc::Status::OK;
	}

	grpc::Status Chat(grpc::ServerContext *,
			  grpc::ServerReaderWriter<bench::Reply, bench::Request> *stream) override
	{
		bench::Request request;
		bench::Reply reply;

		reply.set_payload(payload);
		while (stream->Read(&request) && stream->Write(reply))
			;
		return grpc::Status::OK;
	}

	grpc::Status Collect(grpc::ServerContext *, grpc::ServerReader<bench::Request> *reader,
			     bench::Reply *reply) override
	{
		bench::Request request;

		while (reader->Read(&request))
			;
		reply->set_payload(payload);
		return grpc::Status::OK;
	}

private:
	const std::string payload;
};

static int serve(const struct options &o)
{
	SyncService service(o.reply);
	grpc::ServerBuilder builder;

	block_ends();
	configure(builder, o);
	builder.RegisterService(&service);
	std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
	if (!server)
		errx(1, "%s: no server", o.address);
	wait_for_end();
	/* Without waiting for connections that clients keep. */
	_exit(0);
}

/* A call at an asynchronous server; when it has ended it makes way for its successor. */
class Served {
public:
	Served(bench::Bench::AsyncService *service, grpc::ServerCompletionQueue *queue,
	       const std::string &payload)
		: service(service), queue(queue), payload(payload), responder(&context)
	{
		service->RequestCall(&context, &request, &responder, queue, queue, this);
	}

	void proceed(void)
	{
		if (answered) {
			delete this;
			return;
		}
		new Served(service, queue, payload);
		reply.set_payload(payload);
		answered = true;
		responder.Finish(reply, grpc::Status::OK, this);
	}

private:
	bench::Bench::AsyncService *service;
	grpc::ServerCompletionQueue *queue;
	const std::string &payload;
	grpc::ServerContext context;
	bench::Request request;
	bench::Reply reply;
	grpc::ServerAsyncResponseWriter<bench::Reply> responder;
	bool answered = false;
};

static void serve_queue(grpc::ServerCompletionQueue *queue)
{
	void *tag;
	bool ok;

	while (queue->Next(&tag, &ok)) {
		if (ok)
			static_cast<Served *>(tag)->proceed();
		else
			delete static_cast<Served *>(tag);
	}
}

static int serve_async(const struct options &o)
{
	std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues;
	const std::string payload(o.reply, 'm');
	bench::Bench::AsyncService service;
	grpc::ServerBuilder builder;

	block_ends();
	configure(builder, o);
	builder.RegisterService(&service);
	for (unsigned int i = 0; i < o.threads; i++)
		queues.push_back(builder.AddCompletionQueue());
	std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
	if (!server)
		errx(1, "%s: no server", o.address);
	for (auto &queue : queues) {
		for (unsigned int i = 0; i < STREAMS; i++)
			new Served(&service, queue.get(), payload);
		std::thread(serve_queue, queue.get()).detach();
	}
	wait_for_end();
	_exit(0);
}

/* -- client ------------------------------------------------------------------------ */

static std::unique_ptr<bench::Bench::Stub> connect_client(const struct options *o)
{
	auto channel = grpc::CreateCustomChannel(o->address, client_credentials(*o),
						 client_arguments());

	if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(20)))
		errx(1, "%s does not answer", o->address);
	return bench::Bench::NewStub(channel);
}

static void check(const grpc::Status &status, const bench::Reply &reply)
{
	if (!status.ok())
		errx(1, "%d: %s", status.error_code(), status.error_message().c_str());
	if (reply.payload().empty())
		errx(1, "the reply is empty");
}

/* A large payload is made once, as an application has it; the rest for each call. */
static void call_once(bench::Bench::Stub *stub, const bench::Request &request)
{
	grpc::ClientContext context;
	bench::Reply reply;

	check(stub->Call(&context, request, &reply), reply);
}

static bench::Request make_request(const struct options *o)
{
	bench::Request request;

	request.set_payload(std::string(o->request, 'm'));
	return request;
}

static void run_sync(struct measure *m, const struct options *o)
{
	const bench::Request request = make_request(o);
	auto stub = connect_client(o);
	uint64_t began;

	measure_init(m, o);
	do {
		began = ticks();
		call_once(stub.get(), request);
	} while (measure_call(m, began));
	measure_end(m);
}

static void check_end(const grpc::Status &status)
{
	if (!status.ok())
		errx(1, "%d: %s", status.error_code(), status.error_message().c_str());
}

static void run_chat(struct measure *m, const struct options *o)
{
	const bench::Request request = make_request(o);
	auto stub = connect_client(o);
	grpc::ClientContext context;
	auto stream = stub->Chat(&context);
	bench::Reply reply;
	uint64_t began;

	measure_init(m, o);
	for (unsigned int i = 1; i < o->in_flight; i++)
		if (!stream->Write(request))
			errx(1, "the stream ends");
	do {
		began = ticks();
		if (!stream->Write(request) || !stream->Read(&reply))
			errx(1, "the stream ends");
		if (reply.payload().empty())
			errx(1, "a reply is empty");
	} while (measure_call(m, began));
	measure_end(m);
	stream->WritesDone();
	while (stream->Read(&reply))
		;
	check_end(stream->Finish());
}

static void run_collect(struct measure *m, const struct options *o)
{
	const bench::Request request = make_request(o);
	auto stub = connect_client(o);
	grpc::ClientContext context;
	grpc::WriteOptions write;
	bench::Reply reply;
	auto writer = stub->Collect(&context, &reply);
	uint64_t began;

	if (o->together)
		write.set_buffer_hint();
	measure_init(m, o);
	do {
		began = ticks();
		if (!writer->Write(request, write))
			errx(1, "the stream ends");
	} while (measure_call(m, began));
	measure_end(m);
	writer->WritesDone();
	check_end(writer->Finish());
}

static void run_connect(struct measure *m, const struct options *o)
{
	const bench::Request request = make_request(o);
	uint64_t began;
	bool more;

	measure_init(m, o);
	do {
		began = ticks();
		auto stub = connect_client(o);
		call_once(stub.get(), request);
		more = measure_call(m, began);
	} while (more);
	measure_end(m);
}

struct InFlight {
	uint64_t began;
	grpc::ClientContext context;
	grpc::Status status;
	bench::Reply reply;
	std::unique_ptr<grpc::ClientAsyncResponseReader<bench::Reply>> reader;
};

static void start_call(bench::Bench::Stub *stub, const bench::Request &request,
		       grpc::CompletionQueue *queue)
{
	InFlight *call = new InFlight;

	call->began = ticks();
	call->reader = stub->AsyncCall(&call->context, request, queue);
	call->reader->Finish(&call->reply, &call->status, call);
}

static void run_async(struct measure *m, const struct options *o)
{
	const bench::Request request = make_request(o);
	unsigned int in_flight = o->in_flight;
	auto stub = connect_client(o);
	grpc::CompletionQueue queue;
	bool ok, more = true;
	void *tag;

	measure_init(m, o);
	for (unsigned int i = 0; i < o->in_flight; i++)
		start_call(stub.get(), request, &queue);
	while (in_flight && queue.Next(&tag, &ok)) {
		std::unique_ptr<InFlight> call(static_cast<InFlight *>(tag));

		check(call->status, call->reply);
		if (more) {
			more = measure_call(m, call->began);
			if (!more)
				measure_end(m);
		}
		if (more)
			start_call(stub.get(), request, &queue);
		else
			in_flight--;
	}
	queue.Shutdown();
	while (queue.Next(&tag, &ok))
		;
}

static int idle(const struct options &o)
{
	std::vector<std::unique_ptr<bench::Bench::Stub>> stubs;
	const bench::Request request = make_request(&o);
	auto first = connect_client(&o);
	uint64_t before;

	call_once(first.get(), request);
	before = memory_used();
	for (uint64_t i = 0; i < o.calls; i++) {
		stubs.push_back(connect_client(&o));
		call_once(stubs.back().get(), request);
	}
	memory_report(before, o.calls);
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	struct options o;

	options_parse(&o, argc, argv, usage);
	return run_mode(o, usage, settings, {
		{ "serve", serve, nullptr }, { "serve-async", serve_async, nullptr },
		{ "idle", idle, nullptr }, { "sync", nullptr, run_sync },
		{ "async", nullptr, run_async }, { "connect", nullptr, run_connect },
		{ "chat", nullptr, run_chat }, { "collect", nullptr, run_collect },
	});
}
