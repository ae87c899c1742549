# SPDX-License-Identifier: GPL-2.0
#
# What the application is made of on both, and in its tests.

hotel_common := program.o check.o load.o workload.o histogram.o stock.o cache.o data.o sha256.o

# Hashes and random numbers are those of others of this tree.
hotel_flags := $(addprefix -I$(top)/,tools/hotel tools/mrpcc tools/sim selftests/lib) -iquote $(top)/kmod
