// SPDX-License-Identifier: GPL-2.0
// As bench.proto.
namespace cpp bench

struct Request {
  1: binary payload,
  2: string key
}

struct Reply {
  1: binary payload
}

service Bench {
  Reply Call(1: Request request)
}
