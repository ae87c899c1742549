// SPDX-License-Identifier: GPL-2.0
/*
 * gRPC's own peer in tests of interoperability: that of Node, @grpc/grpc-js.
 *
 *	stock.js PORT MRPC COMMAND...
 *
 * is a server for interop.proto at PORT while COMMAND runs, which calls it. Then it calls the
 * server at MRPC, one case of gRPC's interoperability tests after the other. A program of Node
 * takes seconds to start on an emulated processor: so there is one for both directions.
 */
"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { readFileSync } = require("node:fs");
const { setTimeout: sleep } = require("node:timers/promises");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const { testing } = grpc.loadPackageDefinition(loader.loadSync("interop.proto", {
	includeDirs: [__dirname], keepCase: true, defaults: true,
})).grpc;
const status = grpc.status;

const ECHO_INITIAL = "x-grpc-test-echo-initial";
const ECHO_TRAILING = "x-grpc-test-echo-trailing-bin";
const SLEEP_MS = "x-test-sleep-ms";
const SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \u{1f608}\t\n";
const TIMEOUT = 60000; // ms, of a call that should end well: for busy machines
const OPTIONS = { "grpc.enable_http_proxy": 0 };

// Of TLS, if it is wanted: the peer's authority, and the certificate and key of this end.
const [ca, cert, key] = ["PEER_CA", "PEER_CERT", "PEER_KEY"].map((name) =>
	process.env[name] ? readFileSync(process.env[name]) : null);

const payload = (size) => ({ body: Buffer.alloc(size) });

function sizeOf(message) {
	const body = message.payload ? message.payload.body : Buffer.alloc(0);

	assert(body.equals(Buffer.alloc(body.length)), "the payload is not zeroes");
	return body.length;
}

function metadataOf(entries) {
	const metadata = new grpc.Metadata();

	for (const [name, value] of entries)
		metadata.add(name, value);
	return metadata;
}

// -- the server ------------------------------------------------------------------------------

// Does what the request's metadata asks for. Return: the metadata of the call's end.
async function obeyMetadata(call) {
	const echo = (name) => metadataOf(call.metadata.get(name).map((value) => [name, value]));
	const [ms] = call.metadata.get(SLEEP_MS);

	if (call.metadata.get(ECHO_INITIAL).length)
		call.sendMetadata(echo(ECHO_INITIAL));
	if (ms) {
		await Promise.race([sleep(Number(ms)), once(call, "cancelled")]);
		if (call.cancelled)
			console.log("a call has ended early");
	}
	return echo(ECHO_TRAILING);
}

// The error that a request asks for, or null.
function askedStatus(request) {
	const { code, message: details } = request.response_status || {};

	return code ? { code, details } : null;
}

// A handler of a call that has one reply.
const replying = (function_) => (call, callback) => {
	obeyMetadata(call).then(async (trailers) => callback(null, await function_(call), trailers))
		.catch((error) => callback(error));
};

// A handler of a call whose replies are a stream.
const streaming = (function_) => (call) => {
	obeyMetadata(call).then(async (trailers) => {
		await function_(call);
		call.end(trailers);
	}).catch((error) => call.cancelled || call.emit("error", error));
};

async function respond(call, request) {
	for (const asked of request.response_parameters) {
		await sleep(asked.interval_us / 1000);
		call.write({ payload: payload(asked.size) });
	}
}

function throwAsked(request) {
	const error = askedStatus(request);

	if (error)
		throw error;
}

const HANDLERS = {
	EmptyCall: replying(() => ({})),
	UnaryCall: replying(({ request }) => {
		sizeOf(request);
		throwAsked(request);
		return { payload: payload(request.response_size) };
	}),
	StreamingOutputCall: streaming(async (call) => {
		await respond(call, call.request);
		throwAsked(call.request);
	}),
	StreamingInputCall: replying(async (call) => {
		let sum = 0;

		for await (const request of call)
			sum += sizeOf(request);
		return { aggregated_payload_size: sum };
	}),
	FullDuplexCall: streaming(async (call) => {
		// The way back stays open when the requests have ended.
		for await (const request of call.iterator({ destroyOnReturn: false })) {
			sizeOf(request);
			await respond(call, request);
			throwAsked(request);
		}
	}),
};

async function serve(port) {
	const server = new grpc.Server(OPTIONS);
	const credentials = cert
		? grpc.ServerCredentials.createSsl(ca, [{ private_key: key, cert_chain: cert }], !!ca)
		: grpc.ServerCredentials.createInsecure();

	server.addService(testing.TestService.service, HANDLERS);
	await new Promise((resolve, reject) => server.bindAsync(`127.0.0.1:${port}`, credentials,
		(error) => error ? reject(error) : resolve()));
	return server;
}

// -- the client ------------------------------------------------------------------------------

class Peer {
	constructor(port) {
		this.port = port;
		this.test = this.connect(testing.TestService);
		this.gzip = this.connect(testing.TestService, grpc.compressionAlgorithms.gzip);
		this.deflate = this.connect(testing.TestService, grpc.compressionAlgorithms.deflate);
		this.none = this.connect(testing.UnimplementedService);
	}

	// Messages are compressed by channels.
	connect(Service, algorithm) {
		const credentials = ca ? grpc.credentials.createSsl(ca, key, cert)
			: grpc.credentials.createInsecure();
		const options = { ...OPTIONS };

		// Node's TLS does not like an address as the server's name.
		if (ca)
			options["grpc.ssl_target_name_override"] = "localhost";
		if (algorithm !== undefined)
			options["grpc.default_compression_algorithm"] = algorithm;
		return new Service(`127.0.0.1:${this.port}`, credentials, options);
	}

	close() {
		for (const client of [this.test, this.gzip, this.deflate, this.none])
			client.close();
	}
}

const until = (timeout = TIMEOUT) => ({ deadline: Date.now() + timeout });

// A call whose reply is not a stream. @make gets what follows the request. @begun gets the call.
function result(make, { metadata = [], timeout, begun = () => {} } = {}) {
	return new Promise((resolve, reject) => {
		const got = [];
		let reply, error;
		const call = make(metadataOf(metadata), until(timeout), (why, message) => {
			[error, reply] = [why, message];
		});

		call.on("metadata", (entries) => got.push(entries));
		call.on("status", (end) => {
			got.push(end.metadata);
			if (error)
				reject(error);
			else
				resolve({ reply, got });
		});
		begun(call);
	});
}

const unary = (client, request, more) =>
	result((...args) => client.UnaryCall(request, ...args), more);

// The call must end so; details null: whatever it says.
async function fails(code, details, promise) {
	await assert.rejects(promise, (error) => {
		assert.strictEqual(error.code, code, error.message);
		if (details !== null)
			assert.strictEqual(error.details, details);
		return true;
	});
}

const LARGE = { response_size: 314159, payload: payload(271828) };
const isLarge = ({ reply }) => assert.strictEqual(sizeOf(reply), 314159);

async function empty_unary({ test }) {
	await result((...args) => test.EmptyCall({}, ...args));
}

async function large_unary({ test }) {
	isLarge(await unary(test, LARGE));
}

async function custom_metadata({ test }) {
	const metadata = [[ECHO_INITIAL, "test_initial_metadata_value"],
		[ECHO_TRAILING, Buffer.from([0xab, 0xab, 0xab, 0, 0xff, 0x2c, 0x3d])]];
	const answer = await unary(test, LARGE, { metadata });

	isLarge(answer);
	// An mrpc server has no initial metadata: all of it comes at the end.
	for (const [name, value] of metadata)
		assert.deepStrictEqual(answer.got.flatMap((entries) => entries.get(name)), [value]);
}

async function status_code_and_message({ test }) {
	const response_status = { code: 2, message: "test status message" };

	await fails(status.UNKNOWN, "test status message", unary(test, { response_status }));
}

async function special_status_message({ test }) {
	const response_status = { code: 2, message: SPECIAL };

	await fails(status.UNKNOWN, SPECIAL, unary(test, { response_status }));
}

async function unimplemented_method({ test }) {
	await fails(status.UNIMPLEMENTED, null,
		result((...args) => test.UnimplementedCall({}, ...args)));
}

async function unimplemented_service({ none }) {
	await fails(status.UNIMPLEMENTED, null,
		result((...args) => none.UnimplementedCall({}, ...args)));
}

async function timeout_on_sleeping_server({ test }) {
	for (const timeout of [1, 300])
		await fails(status.DEADLINE_EXCEEDED, null,
			unary(test, {}, { timeout, metadata: [[SLEEP_MS, "3000"]] }));
}

const cancelLater = async (call) => { await sleep(300); call.cancel(); };

async function cancel_after_begin({ test }) {
	await fails(status.CANCELLED, null,
		unary(test, {}, { metadata: [[SLEEP_MS, "3000"]], begun: cancelLater }));
}

async function concurrent_large_unary({ test }) {
	for (const answer of await Promise.all(Array.from({ length: 16 }, () => unary(test, LARGE))))
		isLarge(answer);
}

async function client_compressed_unary({ test, gzip, deflate }) {
	const request = { ...LARGE, expect_compressed: { value: true } };

	await fails(status.INVALID_ARGUMENT, null, unary(test, request));
	for (const client of [gzip, deflate]) {
		isLarge(await unary(client, request));
		// What gets no smaller by it is compressed, too.
		await unary(client, { expect_compressed: { value: true } });
	}
}

async function server_compressed_unary({ test }) {
	for (const value of [true, false])
		isLarge(await unary(test, { ...LARGE, response_compressed: { value } }));
}

// -- streams ---------------------------------------------------------------------------------

const THERE = [27182, 8, 1828, 45904], BACK = [31415, 9, 2653, 58979];

const ask = (sizes, more) => ({ response_parameters: sizes.map((size) => ({ size })), ...more });

// A call with these messages, and one reply.
const send = (client, messages, begun = (call) => call.end()) =>
	result((...args) => client.StreamingInputCall(...args), { begun: (call) => {
		for (const message of messages)
			call.write(message);
		begun(call);
	} });

const duplex = ({ test }, timeout) => test.FullDuplexCall(new grpc.Metadata(), until(timeout));

async function sizesOf(call) {
	const sizes = [];

	for await (const message of call)
		sizes.push(sizeOf(message));
	return sizes;
}

async function client_streaming({ test }) {
	const { reply } = await send(test, THERE.map((size) => ({ payload: payload(size) })));

	assert.strictEqual(reply.aggregated_payload_size, 74922);
}

async function server_streaming({ test }) {
	assert.deepStrictEqual(await sizesOf(test.StreamingOutputCall(ask(BACK), until())), BACK);
}

async function ping_pong(peer) {
	const call = duplex(peer), replies = call[Symbol.asyncIterator]();

	for (const i of BACK.keys()) {
		call.write(ask([BACK[i]], { payload: payload(THERE[i]) }));
		assert.strictEqual(sizeOf((await replies.next()).value), BACK[i]);
	}
	call.end();
	assert((await replies.next()).done);
}

async function empty_stream(peer) {
	const call = duplex(peer);

	call.end();
	assert.deepStrictEqual(await sizesOf(call), []);
}

async function stream_cancel_after_begin({ test }) {
	await fails(status.CANCELLED, null, send(test, [], cancelLater));
}

async function cancel_after_first_response(peer) {
	const call = duplex(peer), replies = call[Symbol.asyncIterator]();

	call.write(ask([BACK[0]], { payload: payload(THERE[0]) }));
	assert.strictEqual(sizeOf((await replies.next()).value), BACK[0]);
	call.cancel();
	await fails(status.CANCELLED, null, replies.next());
}

async function stream_timeout(peer) {
	await fails(status.DEADLINE_EXCEEDED, null, sizesOf(duplex(peer, 300)));
}

async function stream_status(peer) {
	const call = duplex(peer);

	call.end(ask([], { response_status: { code: 2, message: "test status message" } }));
	await fails(status.UNKNOWN, "test status message", sizesOf(call));
}

// Node's client compresses all messages of a channel, or none.
async function client_compressed_streaming({ test, gzip, deflate }) {
	const requests = THERE.map((size) => ({ payload: payload(size),
		expect_compressed: { value: true } }));

	await fails(status.INVALID_ARGUMENT, null, send(test, requests));
	for (const client of [gzip, deflate]) {
		const { reply } = await send(client, requests);

		assert.strictEqual(reply.aggregated_payload_size, 74922);
	}
}

async function server_compressed_streaming({ test }) {
	const response_parameters = BACK.map((size, i) => ({ size, compressed: { value: i % 2 == 0 } }));
	const call = test.StreamingOutputCall({ response_parameters }, until());

	assert.deepStrictEqual(await sizesOf(call), BACK);
}

const CASES = [empty_unary, large_unary, custom_metadata, status_code_and_message,
	special_status_message, unimplemented_method, unimplemented_service,
	timeout_on_sleeping_server, cancel_after_begin, concurrent_large_unary,
	client_compressed_unary, server_compressed_unary, client_streaming, server_streaming,
	ping_pong, empty_stream, stream_cancel_after_begin, cancel_after_first_response,
	stream_timeout, stream_status, client_compressed_streaming, server_compressed_streaming,
	ping_pong, empty_unary];

// --------------------------------------------------------------------------------------------

async function main(port, mrpc, ...command) {
	const server = await serve(port);
	const [code] = await once(spawn(command[0], command.slice(1), { stdio: "inherit" }), "exit");

	assert.strictEqual(code, 0, command.join(" "));
	server.forceShutdown();
	const peer = new Peer(mrpc);
	for (const one of CASES) {
		console.log("#", one.name);
		await one(peer);
	}
	peer.close();
	console.log("# all done");
}

main(...process.argv.slice(2)).catch((error) => {
	console.log("#", error);
	process.exit(1);
});
