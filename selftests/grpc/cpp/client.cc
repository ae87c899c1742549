// SPDX-License-Identifier: GPL-2.0
/* The cases of gRPC's interoperability tests, by their names. */
#include "stock.h"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace grpc {
namespace testing {

#define SPECIAL		"\t\ntest with whitespace\r\nand Unicode BMP \xe2\x98\xba and non-BMP " \
			"\xf0\x9f\x98\x88\t\n"
#define TIMEOUT		60000	/* ms, of a call that should end well: for busy machines */

static std::unique_ptr<TestService::Stub> stub;
static std::unique_ptr<UnimplementedService::Stub> none;

struct Context : ClientContext {
	explicit Context(int ms = TIMEOUT)
	{
		set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(ms));
	}

	bool compressed() const { return InteropClientContextInspector::compressed(*this); }
};

static void fails_with(const Status &status, StatusCode code, const char *message = NULL)
{
	if (status.error_code() != code || (message && status.error_message() != message)) {
		printf("# status %d, '%s'\n", status.error_code(), status.error_message().c_str());
		exit(1);
	}
}

static void is_ok(const Status &status)
{
	fails_with(status, StatusCode::OK);
}

static SimpleRequest large(void)
{
	SimpleRequest request;

	request.set_response_size(314159);
	request.set_allocated_payload(zeroes(271828));
	return request;
}

static void large_call(Context &context, const SimpleRequest &request)
{
	SimpleResponse response;

	is_ok(stub->UnaryCall(&context, request, &response));
	MUST(size_of(response) == 314159);
}

static Status unary(Context &context, const SimpleRequest &request)
{
	SimpleResponse response;

	return stub->UnaryCall(&context, request, &response);
}

static void empty_unary(void)
{
	Context context;
	Empty request, response;

	is_ok(stub->EmptyCall(&context, request, &response));
}

static void large_unary(void)
{
	Context context;

	large_call(context, large());
}

static void custom_metadata(void)
{
	std::string text = "test_initial_metadata_value", binary("\xab\xab\xab\0\xff,=", 7);
	std::multimap<string_ref, string_ref> got;
	Context context;

	context.AddMetadata(ECHO_INITIAL, text);
	context.AddMetadata(ECHO_TRAILING, binary);
	large_call(context, large());
	/* An mrpc server has no initial metadata: all of it comes at the end. */
	got = context.GetServerTrailingMetadata();
	got.insert(context.GetServerInitialMetadata().begin(),
		   context.GetServerInitialMetadata().end());
	MUST(got.count(ECHO_INITIAL) == 1 && got.find(ECHO_INITIAL)->second == text);
	MUST(got.count(ECHO_TRAILING) == 1 && got.find(ECHO_TRAILING)->second == binary);
}

static void echoes_status(const char *message)
{
	SimpleRequest request;
	Context context;

	request.mutable_response_status()->set_code(StatusCode::UNKNOWN);
	request.mutable_response_status()->set_message(message);
	fails_with(unary(context, request), StatusCode::UNKNOWN, message);
}

static void status_code_and_message(void) { echoes_status("test status message"); }
static void special_status_message(void) { echoes_status(SPECIAL); }

static void unimplemented_method(void)
{
	Context context;
	Empty request, response;

	fails_with(stub->UnimplementedCall(&context, request, &response),
		   StatusCode::UNIMPLEMENTED);
}

static void unimplemented_service(void)
{
	Context context;
	Empty request, response;

	fails_with(none->UnimplementedCall(&context, request, &response),
		   StatusCode::UNIMPLEMENTED);
}

static void timeout_on_sleeping_server(void)
{
	for (int ms : { 1, 300 }) {
		Context context(ms);

		context.AddMetadata(SLEEP_MS, "3000");
		fails_with(unary(context, SimpleRequest()), StatusCode::DEADLINE_EXCEEDED);
	}
}

static void cancel_after_begin(void)
{
	Context context;
	std::thread canceller([&context] {
		usleep(300000);
		context.TryCancel();
	});

	context.AddMetadata(SLEEP_MS, "3000");
	fails_with(unary(context, SimpleRequest()), StatusCode::CANCELLED);
	canceller.join();
}

static void concurrent_large_unary(void)
{
	std::vector<std::thread> calls;

	for (int i = 0; i < 16; i++)
		calls.emplace_back(large_unary);
	for (std::thread &call : calls)
		call.join();
}

static void client_compressed_unary(void)
{
	SimpleRequest request = large(), small;
	Context probe, plain;

	request.mutable_expect_compressed()->set_value(true);
	fails_with(unary(probe, request), StatusCode::INVALID_ARGUMENT);
	for (auto algorithm : { GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE }) {
		Context context, vain;

		context.set_compression_algorithm(algorithm);
		large_call(context, request);
		/* What gets no smaller by it is not compressed. */
		small.mutable_expect_compressed()->set_value(true);
		vain.set_compression_algorithm(algorithm);
		fails_with(unary(vain, small), StatusCode::INVALID_ARGUMENT);
	}
	request.mutable_expect_compressed()->set_value(false);
	large_call(plain, request);
}

static void server_compressed_unary(void)
{
	for (bool wanted : { true, false }) {
		SimpleRequest request = large();
		Context context;

		request.mutable_response_compressed()->set_value(wanted);
		large_call(context, request);
		MUST(context.compressed() == wanted);
	}
}

/* -- streams ------------------------------------------------------------------------ */

static const std::vector<int> there = { 27182, 8, 1828, 45904 }, back = { 31415, 9, 2653, 58979 };

static StreamingOutputCallRequest ask(const std::vector<int> &sizes)
{
	StreamingOutputCallRequest request;

	for (int size : sizes)
		request.add_response_parameters()->set_size(size);
	return request;
}

template <class Stream> std::vector<int> sizes_of(Stream &stream)
{
	StreamingOutputCallResponse response;
	std::vector<int> sizes;

	while (stream->Read(&response))
		sizes.push_back(size_of(response));
	return sizes;
}

static void client_streaming(void)
{
	StreamingInputCallResponse response;
	Context context;
	auto writer = stub->StreamingInputCall(&context, &response);

	for (int size : there) {
		StreamingInputCallRequest request;

		request.set_allocated_payload(zeroes(size));
		MUST(writer->Write(request));
	}
	writer->WritesDone();
	is_ok(writer->Finish());
	MUST(response.aggregated_payload_size() == 74922);
}

static void server_streaming(void)
{
	Context context;
	auto reader = stub->StreamingOutputCall(&context, ask(back));

	MUST(sizes_of(reader) == back);
	is_ok(reader->Finish());
}

template <class Stream> void ping(Stream &stream, size_t i)
{
	StreamingOutputCallRequest request = ask({ back[i] });
	StreamingOutputCallResponse response;

	request.set_allocated_payload(zeroes(there[i]));
	MUST(stream->Write(request));
	MUST(stream->Read(&response) && size_of(response) == back[i]);
}

static void ping_pong(void)
{
	Context context;
	auto stream = stub->FullDuplexCall(&context);

	for (size_t i = 0; i < back.size(); i++)
		ping(stream, i);
	stream->WritesDone();
	MUST(sizes_of(stream).empty());
	is_ok(stream->Finish());
}

static void empty_stream(void)
{
	Context context;
	auto stream = stub->FullDuplexCall(&context);

	stream->WritesDone();
	MUST(sizes_of(stream).empty());
	is_ok(stream->Finish());
}

static void stream_cancel_after_begin(void)
{
	StreamingInputCallResponse response;
	Context context;
	auto writer = stub->StreamingInputCall(&context, &response);

	usleep(300000);
	context.TryCancel();
	fails_with(writer->Finish(), StatusCode::CANCELLED);
}

static void cancel_after_first_response(void)
{
	Context context;
	auto stream = stub->FullDuplexCall(&context);

	ping(stream, 0);
	context.TryCancel();
	MUST(sizes_of(stream).empty());
	fails_with(stream->Finish(), StatusCode::CANCELLED);
}

static void stream_timeout(void)
{
	Context context(300);
	auto stream = stub->FullDuplexCall(&context);

	MUST(sizes_of(stream).empty());
	fails_with(stream->Finish(), StatusCode::DEADLINE_EXCEEDED);
}

static void stream_status(void)
{
	StreamingOutputCallRequest request;
	Context context;
	auto stream = stub->FullDuplexCall(&context);

	request.mutable_response_status()->set_code(StatusCode::UNKNOWN);
	request.mutable_response_status()->set_message("test status message");
	MUST(stream->Write(request));
	stream->WritesDone();
	MUST(sizes_of(stream).empty());
	fails_with(stream->Finish(), StatusCode::UNKNOWN, "test status message");
}

/* One message compressed, or said to be, the next one not. */
static Status two_inputs(bool compress)
{
	StreamingInputCallResponse response;
	Context context;

	context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
	auto writer = stub->StreamingInputCall(&context, &response);
	for (bool expected : { true, false }) {
		StreamingInputCallRequest request;
		WriteOptions options;

		request.mutable_expect_compressed()->set_value(expected);
		request.set_allocated_payload(zeroes(expected ? 27182 : 45904));
		if (!compress || !expected)
			options.set_no_compression();
		if (!writer->Write(request, options))
			break;
	}
	writer->WritesDone();
	Status status = writer->Finish();
	MUST(!status.ok() || response.aggregated_payload_size() == 73086);
	return status;
}

static void client_compressed_streaming(void)
{
	fails_with(two_inputs(false), StatusCode::INVALID_ARGUMENT);
	is_ok(two_inputs(true));
}

static void server_compressed_streaming(void)
{
	StreamingOutputCallRequest request = ask({ 31415, 92653 });
	StreamingOutputCallResponse response;
	Context context;

	request.mutable_response_parameters(0)->mutable_compressed()->set_value(true);
	auto reader = stub->StreamingOutputCall(&context, request);
	MUST(reader->Read(&response) && size_of(response) == 31415 && context.compressed());
	MUST(reader->Read(&response) && size_of(response) == 92653 && !context.compressed());
	MUST(!reader->Read(&response));
	is_ok(reader->Finish());
}

#define CASE(name)	{ #name, name }

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	CASE(empty_unary), CASE(large_unary), CASE(custom_metadata), CASE(status_code_and_message),
	CASE(special_status_message), CASE(unimplemented_method), CASE(unimplemented_service),
	CASE(timeout_on_sleeping_server), CASE(cancel_after_begin), CASE(concurrent_large_unary),
	CASE(client_compressed_unary), CASE(server_compressed_unary), CASE(client_streaming),
	CASE(server_streaming), CASE(ping_pong), CASE(empty_stream), CASE(stream_cancel_after_begin),
	CASE(cancel_after_first_response), CASE(stream_timeout), CASE(stream_status),
	CASE(client_compressed_streaming), CASE(server_compressed_streaming), CASE(ping_pong),
	CASE(empty_unary),
};

static std::shared_ptr<ChannelCredentials> credentials(void)
{
	std::string ca = file_of("PEER_CA");

	if (ca.empty())
		return InsecureChannelCredentials();
	return SslCredentials({ ca, file_of("PEER_KEY"), file_of("PEER_CERT") });
}

void call(const std::string &address)
{
	ChannelArguments args;

	args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
	auto channel = CreateCustomChannel(address, credentials(), args);
	stub = TestService::NewStub(channel);
	none = UnimplementedService::NewStub(channel);
	for (const auto &one : cases) {
		printf("# %s\n", one.name);
		one.run();
	}
	puts("# all done");
}

} /* namespace testing */
} /* namespace grpc */
