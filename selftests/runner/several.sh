#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# More tests for the test runner: of a file of which a part runs alone.
. "${0%/*}/../harness/lib.sh"

test_beside() { true; }

test_alone_1() { sleep 1; }

test_alone_2() { true; }

run_tests "$@"
