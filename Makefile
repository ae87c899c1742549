# SPDX-License-Identifier: GPL-2.0
#
# Everything a person types; 'make help' lists it. What is built goes to build/.

# The kernel to build for. The build host's own does not matter, so the default
# is the newest installed 6.12 (to install: the running one); KDIR names another tree, as test-debug does.
ifdef KDIR
KVER := $(shell cat $(KDIR)/include/config/kernel.release)
else
ifneq ($(filter install uninstall,$(MAKECMDGOALS)),)
KVER ?= $(shell uname -r)
endif
KVER ?= $(shell scripts/kernel-version)
KDIR := /lib/modules/$(KVER)/build
endif

BUILD   := $(CURDIR)/build
MODULES := $(BUILD)/modules/$(KVER)
PREFIX  ?= /usr/local

# Sub-makes inherit the job server of the outermost one.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
MAKEFLAGS += --no-print-directory

# Directories with a Makefile of their own, which writes to $(O); absent ones are left out.
SUBDIRS := tools/libmrpc tools/libmrpc/tls tools/mrpcc tools/mrpc tools/nccl tools/examples \
	   tools/bench tools/hotel tools/sim tools/wireshark bpf tools/libmrpc/test tools/nccl/test \
	   tools/hotel/test tools/sim/test selftests selftests/lib
SUBDIRS := $(patsubst %/Makefile,%,$(wildcard $(SUBDIRS:=/Makefile)))
TESTS   := $(filter selftests% %/test,$(SUBDIRS))
TOOLS   := $(filter-out $(TESTS),$(SUBDIRS))
# A host needs no benchmarks and no simulator.
INSTALLED := $(filter-out tools/bench tools/hotel tools/sim,$(TOOLS))
# What mrpc is measured beside: for measurements only.
PEERS   := $(patsubst %/Makefile,%,$(wildcard tools/bench/peers/Makefile tools/hotel/grpc/Makefile))

.PHONY: all modules lib tools tests setup run test test-native test-debug test-uml \
	test-install test-runner fuzz sim-faults shell bench bench-quick bench-host peers hotel \
	check install uninstall clean help $(SUBDIRS) $(PEERS)

all: modules lib tools
lib: $(filter tools/libmrpc tools/libmrpc/tls tools/nccl,$(SUBDIRS))
tools: $(TOOLS)
tests: $(TESTS) $(filter tools/mrpcc,$(TOOLS))

modules:
	+@MAKE="$(MAKE)" scripts/build-modules $(KDIR) $(MODULES)

# The lock lets two makes run in one tree. V=1 shows the commands.
$(SUBDIRS) $(PEERS):
	@mkdir -p $(BUILD)/$@
	@echo "  MAKE    $@"
	+@flock $(BUILD)/$@/.lock $(MAKE) $(if $(V),,-s) -C $@ O=$(BUILD)/$@

# The library has code for the well-known types.
$(filter tools/libmrpc,$(SUBDIRS)): $(filter tools/mrpcc,$(SUBDIRS))

# Some fuzz targets read messages of a type that mrpcc describes.
$(filter selftests/lib,$(SUBDIRS)): $(filter tools/mrpcc,$(SUBDIRS))

# Users of the library and the stub compiler.
$(filter tools/libmrpc/tls tools/mrpc tools/nccl tools/examples tools/bench tools/hotel \
	 tools/libmrpc/test tools/nccl/test selftests,$(SUBDIRS)): \
	$(filter tools/libmrpc tools/mrpcc,$(SUBDIRS))

# One example is a program of NCCL.
$(filter tools/examples,$(SUBDIRS)): $(filter tools/nccl,$(SUBDIRS))

setup:
	@scripts/setup

# Set up first, then build, whatever the number of jobs.
run: setup
	+@$(MAKE) all
	@scripts/vm -t 175 scripts/run-demo

# Without their packages peers are left out, and said to be.
peers: setup
	@scripts/setup bench || echo "  peers without packages are left out"
	+@$(MAKE) all $(PEERS)

bench: peers
	@tools/bench/run -p

bench-quick: peers
	@tools/bench/run -p -q

hotel: peers
	@tools/hotel/run -p

# Asks for leave before anything is installed or built.
bench-host:
	@[ "$$MRPC_BENCH_HOST" = yes ] || exec tools/bench/on-host
	+@$(MAKE) KVER=$(shell uname -r) peers
	@tools/bench/run --host

shell: setup
	+@$(MAKE) all
	@scripts/vm -c scripts/in-guest bash -l || :

test: setup
	+@$(MAKE) $(if $(LIST),,all) tests
	@scripts/test

test-native: setup
	+@$(MAKE) $(filter-out selftests,$(TESTS)) $(filter tools/mrpcc tools/sim tools/bench,$(TOOLS))
	@scripts/test native

fuzz: setup
	+@$(MAKE) $(filter selftests/lib,$(SUBDIRS))
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-1800} scripts/test fuzz

# Each processor has seeds of its own.
sim-faults: tools/sim
	@tools/sim/faults $(or $(SEEDS),1000000) $(or $(SEED),1)

test-debug: setup
	@scripts/setup debug-kernel
	@scripts/debug-kernel $(if $(KCSAN),--kcsan)
	+@kernel=$$(scripts/debug-kernel $(if $(KCSAN),--kcsan) --path) && \
		$(MAKE) KDIR=$$kernel/build all tests && \
		scripts/test debug

test-uml: setup
	@scripts/setup debug-kernel
	@scripts/debug-kernel --uml
	+@kernel=$$(scripts/debug-kernel --uml --path) && \
		$(MAKE) KDIR=$$kernel/build all tests && \
		scripts/test uml

test-install: setup
	+@$(MAKE) all
	@MRPC_TEST_DIR=$(CURDIR)/selftests/install scripts/test

test-runner: setup
	+@$(MAKE) modules
	@scripts/test-runner

# Peers, too, as far as their packages are there: no test builds them.
check: setup
	@scripts/setup check
	+@$(MAKE) all $(PEERS)
	+@MAKE="$(MAKE)" scripts/check $(KDIR) $(BUILD)/check/$(KVER)

install: modules $(INSTALLED)
	+@MAKE="$(MAKE)" DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" \
		scripts/install $(KDIR) $(MODULES) $(KVER) $(INSTALLED)

uninstall:
	+@MAKE="$(MAKE)" DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" \
		scripts/install --remove $(KVER) $(INSTALLED)

clean:
	@rm -rf $(BUILD)

help:
	@scripts/help
