#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: Documentation/moving.rst tools/libmrpc tools/mrpcc kmod/transports/grpc
# The guide for moving a gRPC service: its programs compile, and its commands print what it says.
# timeout 240
. "${0%/*}/../harness/lib.sh"
. "${0%/*}/../harness/grpc.sh"

# The library, where a host has it.
library()	# install|uninstall
{
	local folder
	for folder in libmrpc libmrpc/tls; do
		make -s -C "$MRPC_TOP/tools/$folder" O="$MRPC_BUILD/tools/$folder" "$1"
	done
}

# modprobe finds the modules, though they are not installed.
modprobe_here()
{
	mkdir "$TEST_TMP/bin"
	cat >"$TEST_TMP/bin/modprobe" <<-END
		#!/bin/sh
		[ ! -d "/sys/module/\$1" ] || exit 0
		exec insmod "$MRPC_MODULES/\$1.ko"
	END
	chmod +x "$TEST_TMP/bin/modprobe"
	PATH=$TEST_TMP/bin:$PATH
}

# The page has removed it, unless the test has failed.
remove_lan() { ip link delete lan 2>/dev/null || :; }

test_page()
{
	((MRPC_TIME_SCALE == 1)) || skip "the page has deadlines, which are too short for this kernel"
	type -P grpc_python_plugin >/dev/null || skip "protobuf-compiler-grpc is missing"
	modprobe_here
	library install
	on_exit library uninstall
	unset http_proxy https_proxy
	on_exit remove_lan
	mkdir "$TEST_TMP/reader"
	cd "$TEST_TMP/reader"
	/usr/bin/python3 "$here/../harness/document.py" "$MRPC_TOP/Documentation/moving.rst"
	grpc_unload
}

run_tests "$@"
