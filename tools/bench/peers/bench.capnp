# SPDX-License-Identifier: GPL-2.0
# As bench.proto.
@0xb6f9d17c5e3a42d1;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bench");

interface Bench {
  call @0 (payload :Data, key :Text) -> (payload :Data);
}
