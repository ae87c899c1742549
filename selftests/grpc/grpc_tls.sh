#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/libmrpc/tls kmod/transports/sock_tls kmod/transports/sock_adopt
# TLS between mrpc and gRPC's own peers, in both directions, with certificates of both ends; and
# what each end says when certificates, protocols or keys do not fit.
# timeout 180
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

# authority NAME
authority()
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 9 \
		-subj "/CN=$1" -keyout "$TEST_TMP/$1.key" -out "$TEST_TMP/$1.pem" 2>/dev/null
}

# certificate NAME AUTHORITY SAN [DAYS]
certificate()
{
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" \
		-keyout "$TEST_TMP/$1.key" -out "$TEST_TMP/$1.csr" 2>/dev/null
	openssl x509 -req -in "$TEST_TMP/$1.csr" -CA "$TEST_TMP/$2.pem" -CAkey "$TEST_TMP/$2.key" \
		-CAcreateserial -days "${4:-9}" -extfile <(echo "subjectAltName=$3") \
		-out "$TEST_TMP/$1.pem" 2>/dev/null
}

certificates()
{
	[[ ! -e $TEST_TMP/client.pem ]] || return 0
	authority ours
	certificate server ours 'DNS:localhost,IP:127.0.0.1'
	certificate client ours 'URI:spiffe://test/client'
}

# as NAME [AUTHORITY]: the environment of an end that has this certificate, and trusts that.
as()
{
	export PEER_CERT=$TEST_TMP/$1.pem PEER_KEY=$TEST_TMP/$1.key
	export PEER_CA=$TEST_TMP/${2:-ours}.pem
}

clear() { unset PEER_CERT PEER_KEY PEER_CA; }

serve_tls()
{
	certificates
	as server
	serve_mrpc
	as client
}

test_python_client()
{
	serve_tls
	stock call 7600
	stock stream 7600
	wait_for 10 no_calls
	grpc_ends
	grep 'refused 0 peers' "$TEST_TMP/mrpc"
}

test_python_server()
{
	certificates
	as server
	serve_stock
	as client
	"$peer" call grpc:127.0.0.1:7601
	"$peer" stream grpc:localhost:7601
}

# All ends have the same certificate.
test_node()
{
	need_node
	certificates
	as server
	node_and_mrpc
}

test_cpp()
{
	certificates
	as server
	cpp_and_mrpc
}

# Both ends are mrpc's, over gRPC's wire and over our own framing.
test_mrpc()
{
	local at
	for at in grpc:127.0.0.1:7600 tcp:127.0.0.1:7604; do
		serve_tls
		"$peer" stream "$at"
		grpc_ends
	done
}

# Clients of both transports at one port, which they tell by ALPN.
test_one_port()
{
	at=tcp+grpc:127.0.0.1:7600
	serve_tls
	stock call 7600
	"$peer" stream tcp:127.0.0.1:7600
	"$peer" stream grpc:127.0.0.1:7600
	held tcp:127.0.0.1:7600 "
		sorted(c.get('identity') for c in j) == ['localhost', 'spiffe://test/client'] and
		all(c['transport'] == 'tcp' for c in j)"
	grpc_ends
	grep 'refused 0 peers' "$TEST_TMP/mrpc"
}

# What an operator sees: the cipher, and at the server's end the client's name.
test_shown()
{
	serve_tls
	coproc "$peer" hold "$at"
	wait_for 10 eval 'mrpc -j conn show state ready | json "len(j) == 2"'
	mrpc -j conn show | json "
		sorted(c.get('identity') for c in j) == ['localhost', 'spiffe://test/client'] and
		all(c['tls'].startswith('aes-') and c['transport'] == 'grpc' for c in j)"
	mrpc conn show | tee "$TEST_TMP/shown"
	grep -q ' tls spiffe://test/client ' "$TEST_TMP/shown"
	grep -q ' tls localhost ' "$TEST_TMP/shown"
	kill "$COPROC_PID"
	wait_for 10 eval 'mrpc -j conn | json "len(j) == 0"'
	grpc_ends
}

# nghttp's client, with OpenSSL.
test_h2load()
{
	certificates
	export PEER_CERT=$TEST_TMP/server.pem PEER_KEY=$TEST_TMP/server.key
	serve_mrpc
	printf '\0\0\0\0\2\20\12' >"$TEST_TMP/body"
	h2load -n 1000 -c 4 -m 32 -d "$TEST_TMP/body" -H 'content-type: application/grpc' \
		-H 'te: trailers' https://127.0.0.1:7600/grpc.testing.TestService/UnaryCall |
		tee "$TEST_TMP/load"
	grep -q '1000 succeeded, 0 failed, 0 errored, 0 timeout' "$TEST_TMP/load"
	grpc_ends
}

# refused SENTENCE: mrpc's client does not get through, and says why.
refused()
{
	local said
	said=$("$peer" call "$at" empty_unary 2>&1) && fail "the call went well, without: $1"
	[[ $said == *"$1"* ]] || fail "not '$1' but '$said'"
}

test_client_refuses()
{
	serve_tls
	authority theirs
	as client theirs
	refused "its issuer is not known"
	clear
	refused "handshake"
	as client
	at=tcp:127.0.0.1:7600
	refused "protocol"
	at=grpc:127.0.0.1:7600
	grpc_ends
	certificate server ours 'DNS:other.example'
	as server
	serve_mrpc
	as client
	refused "it is for 'other.example', not for '127.0.0.1'"
	grpc_ends
	clear
	serve_mrpc
	as client
	refused "the peer does not speak TLS"
	grpc_ends
}

test_server_refuses()
{
	serve_tls
	authority theirs
	certificate stranger theirs 'URI:spiffe://test/client'
	as stranger
	refused "issuer"
	unset PEER_CERT PEER_KEY
	refused "certificate"
	kill "$server"
	wait "$server"
	grep 'refused 2 peers, the last: grpc:127.0.0.1' "$TEST_TMP/mrpc"
}

# Certificates are replaced while a client is connected.
test_reload()
{
	serve_tls
	authority next
	certificate server next 'DNS:localhost,IP:127.0.0.1'
	"$peer" stream "$at" empty_stream
	kill -HUP "$server"
	wait_for 10 grep -q 'read again' "$TEST_TMP/mrpc"
	refused "its issuer is not known"
	as client next
	"$peer" stream "$at" empty_stream
	grpc_ends
}

run_tests "$@"
