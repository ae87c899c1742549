#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# 'make install', used as on a host, and 'make uninstall'; run by 'make
# test-install'. The virtual machine's root is the build host's under a tmpfs, so
# nothing of it stays.
# timeout 600
. "${0%/*}/../harness/lib.sh"

# All files where something may be installed, and what they are.
snapshot()
{
	find /etc/udev /usr/local/{bin,sbin,include,lib,share} "/lib/modules/$(uname -r)" \
		/usr/lib/*/wireshark \
		! -path '*/modules.*' ! -type d -printf '%p %y %m %s\n' | sort
}

# As a person would call it: nothing of the build tree is in the way.
clean_env() { env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

make_it() { clean_env make -C "$MRPC_TOP" "$1"; }

device() { stat -c '%U:%G %a' /dev/mrpc; }

# Modules that udev gives to their group, tools that find the library, and a
# member of the group who may use them.
use()
{
	mrpc_unload
	clean_env modprobe mrpc
	[[ $(modinfo -F filename mrpc) == /lib/modules/*/updates/* ]]
	udevadm trigger --settle /dev/mrpc
	[[ $(device) == 'root:mrpc 660' ]] || fail "the device is $(device)"
	ip link set lo up
	# The transport is loaded when somebody who may have that done uses it.
	clean_env kv-server -l tcp:127.0.0.1:7000 >"$TEST_TMP/server" 2>&1 &
	wait_for 10 grep -q listening "$TEST_TMP/server"
	[[ -d /sys/module/mrpc_tcp ]]
	clean_env kv-client put key value
	[[ $(clean_env setpriv --reuid=nobody --regid=nogroup --groups=mrpc kv-client get key) == value ]]
	if clean_env setpriv --reuid=nobody --regid=nogroup --clear-groups kv-client get key \
		2>"$TEST_TMP/err"; then
		fail "somebody who is not in the group used it"
	fi
	grep -q 'Permission denied' "$TEST_TMP/err"
	clean_env mrpc session | has kv-server
	kill "$(pgrep -x kv-server)"
	wait_for 10 mrpc_unload
}

# A program of one's own, with what pkg-config says.
build()	# [-static]
{
	cd "$TEST_TMP"
	cp "$MRPC_TOP"/tools/examples/{echo.proto,echo-client.c} .
	clean_env protoc --mrpc_out=. echo.proto
	# shellcheck disable=SC2046 # several words
	clean_env cc "$@" -o client echo-client.c echo.mrpc.c \
		$(clean_env pkg-config ${1:+--static} --cflags --libs libmrpc)
	# It runs as far as it can without a server.
	! clean_env ./client hello loop:nobody 2>err || fail "somebody answered"
	grep -q 'nobody serves' err
	cp "$MRPC_TOP/tools/examples/nccl_perf.c" .
	# shellcheck disable=SC2046 # several words
	clean_env cc "$@" -o perf nccl_perf.c \
		$(clean_env pkg-config ${1:+--static} --cflags --libs libmrpc-nccl)
	clean_env ./perf -b 8 -e 8 -n 1 | has ' 0$'
}

# An example, and a policy of one's own.
policies()
{
	[[ -e $MRPC_BUILD/bpf/field_acl.bpf.o ]] || return 0	# built without
	clean_env mrpc policy load /usr/local/lib/mrpc/bpf/field_acl.bpf.o
	clean_env mrpc policy unload field_acl
	cp "$MRPC_TOP/bpf/field_acl.bpf.c" "$TEST_TMP/own.bpf.c"
	clean_env clang -target bpf -O2 -g -I/usr/local/include \
		-isystem "/usr/include/$(gcc -dumpmachine)" -c -o "$TEST_TMP/own.bpf.o" "$TEST_TMP/own.bpf.c"
	clean_env mrpc policy load "$TEST_TMP/own.bpf.o"
	clean_env mrpc policy unload field_acl
}

test_install()
{
	local page guide
	need "/lib/modules/$(uname -r)/build/Makefile" "no headers of this kernel"
	need /lib/systemd/systemd-udevd "no udev"
	snapshot >"$TEST_TMP/before"
	! getent group mrpc || delgroup mrpc
	/lib/systemd/systemd-udevd --daemon
	make_it install
	! modinfo mrpc_tcp_90 2>/dev/null || fail "a version for tests is installed"
	use
	clean_env modprobe mrpc
	build
	build -static
	policies
	mrpc_unload
	for page in 1/mrpcc 3/libmrpc 3/libmrpc-tls 4/mrpc 8/mrpc; do
		[[ -s /usr/local/share/man/man${page%/*}/${page#*/}.${page%/*} ]] || fail "no page $page"
	done
	# Guides that the pages name are installed, too.
	for page in /usr/local/share/man/man[1-8]/{mrpc,libmrpc}*; do
		for guide in $(grep -oE 'Documentation/[a-z/-]+\.(rst|yaml)' "$page"); do
			[[ -s /usr/local/share/doc/mrpc/${guide##*/} ]] || fail "no $guide, which $page names"
		done
	done
	clean_env tshark -G protocols 2>"$TEST_TMP/err" | has mrpc_prio
	! grep Lua "$TEST_TMP/err" || fail "the dissectors do not load"
	make_it uninstall
	snapshot >"$TEST_TMP/after"
	diff "$TEST_TMP/before" "$TEST_TMP/after"
	! modinfo mrpc 2>/dev/null || fail "modprobe still finds the module"
	! ldconfig -p | has libmrpc || fail "the linker still finds the library"
}

run_tests "$@"
