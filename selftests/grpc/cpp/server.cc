// SPDX-License-Identifier: GPL-2.0
/*
 * gRPC's own peer in tests of interoperability: that of C++.
 *
 *	stock_cpp serve PORT	a server for interop.proto
 *	stock_cpp call PORT	all cases
 *
 * With TLS if PEER_CA (the peer's authority) or PEER_CERT and PEER_KEY (of this end) are files.
 */
#include "stock.h"

#include <err.h>
#include <string.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

namespace grpc {
namespace testing {

std::string file_of(const char *name)
{
	const char *path = getenv(name);
	std::ostringstream text;

	if (path)
		text << std::ifstream(path).rdbuf();
	return text.str();
}

/* Waits as long as the request's metadata asks for, or until the call has ended. */
static void sleep_as_asked(ServerContext *context, const std::string &ms)
{
	auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(std::stoi(ms));

	while (std::chrono::steady_clock::now() < until) {
		if (context->IsCancelled()) {
			puts("a call has ended early");
			return;
		}
		usleep(10000);
	}
}

static void obey_metadata(ServerContext *context)
{
	for (const auto &[key, data] : context->client_metadata()) {
		std::string value(data.data(), data.size());

		if (key == ECHO_INITIAL)
			context->AddInitialMetadata(ECHO_INITIAL, value);
		else if (key == ECHO_TRAILING)
			context->AddTrailingMetadata(ECHO_TRAILING, value);
		else if (key == SLEEP_MS)
			sleep_as_asked(context, value);
	}
}

/* Must the message that came last be refused, by what its client says of it? */
template <class Request> bool is_unexpected(const Request &request, const ServerContext *context)
{
	return request.has_expect_compressed() &&
	       request.expect_compressed().value() !=
	       InteropServerContextInspector::compressed(*context);
}

static Status unexpected(void)
{
	return Status(StatusCode::INVALID_ARGUMENT, "the message is not compressed as it says");
}

template <class Request> Status status_of(const Request &request)
{
	const EchoStatus &status = request.response_status();

	return Status((StatusCode)status.code(), status.message());
}

template <class Stream> void respond(const StreamingOutputCallRequest &request, Stream *stream)
{
	for (const ResponseParameters &asked : request.response_parameters()) {
		StreamingOutputCallResponse response;
		WriteOptions options;

		usleep(asked.interval_us());
		response.set_allocated_payload(zeroes(asked.size()));
		if (!asked.compressed().value())
			options.set_no_compression();
		stream->Write(response, options);
	}
}

class Service final : public TestService::Service {
	Status EmptyCall(ServerContext *context, const Empty *, Empty *) override
	{
		obey_metadata(context);
		return Status::OK;
	}

	Status UnaryCall(ServerContext *context, const SimpleRequest *request,
			 SimpleResponse *response) override
	{
		obey_metadata(context);
		if (is_unexpected(*request, context))
			return unexpected();
		if (request->response_compressed().value())
			context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
		size_of(*request);
		response->set_allocated_payload(zeroes(request->response_size()));
		return status_of(*request);
	}

	Status StreamingOutputCall(ServerContext *context, const StreamingOutputCallRequest *request,
				   ServerWriter<StreamingOutputCallResponse> *writer) override
	{
		for (const ResponseParameters &asked : request->response_parameters())
			if (asked.compressed().value())
				context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
		respond(*request, writer);
		return status_of(*request);
	}

	Status StreamingInputCall(ServerContext *context,
				  ServerReader<StreamingInputCallRequest> *reader,
				  StreamingInputCallResponse *response) override
	{
		StreamingInputCallRequest request;
		int sum = 0;

		while (reader->Read(&request)) {
			if (is_unexpected(request, context))
				return unexpected();
			sum += size_of(request);
		}
		response->set_aggregated_payload_size(sum);
		return Status::OK;
	}

	Status FullDuplexCall(ServerContext *,
			      ServerReaderWriter<StreamingOutputCallResponse,
						 StreamingOutputCallRequest> *stream) override
	{
		StreamingOutputCallRequest request;
		Status status;

		while (status.ok() && stream->Read(&request)) {
			size_of(request);
			respond(request, stream);
			status = status_of(request);
		}
		return status;
	}
};

static std::shared_ptr<ServerCredentials> credentials(void)
{
	SslServerCredentialsOptions options(file_of("PEER_CA").empty() ?
		GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE :
		GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);

	if (file_of("PEER_CERT").empty())
		return InsecureServerCredentials();
	options.pem_root_certs = file_of("PEER_CA");
	options.pem_key_cert_pairs.push_back({ file_of("PEER_KEY"), file_of("PEER_CERT") });
	return SslServerCredentials(options);
}

void serve(const std::string &address)
{
	ServerBuilder builder;
	Service service;

	builder.AddListeningPort(address, credentials());
	builder.RegisterService(&service);
	std::unique_ptr<Server> server = builder.BuildAndStart();
	if (!server)
		errx(1, "%s: no server", address.c_str());
	puts("listening");
	server->Wait();
}

} /* namespace testing */
} /* namespace grpc */

int main(int argc, char **argv)
{
	std::string mode = argc == 3 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (mode != "serve" && mode != "call")
		errx(2, "Usage: stock_cpp serve PORT | call PORT");
	(mode == "serve" ? grpc::testing::serve : grpc::testing::call)(std::string("127.0.0.1:") +
								       argv[2]);
	return 0;
}
