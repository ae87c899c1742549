-- SPDX-License-Identifier: GPL-2.0
--
-- Frames of mRPC's native wire format, as Documentation/wire.rst describes them. A transport's
-- dissector calls this one, by the name "mrpc", with one whole frame.

local mrpc = Proto("mrpc", "mRPC frame")

local HEADER = 64

local types = {
	[1] = "HELLO", [2] = "HELLO_ACK", [3] = "CALL", [4] = "REPLY", [5] = "CANCEL", [6] = "PING",
	[7] = "PONG", [8] = "BYE", [9] = "FEATURES", [10] = "FEATURES_ACK", [11] = "MESSAGE",
	[12] = "CREDIT", [13] = "CHUNK",
}
local HELLO, HELLO_ACK, CALL, REPLY, CANCEL, MESSAGE, CREDIT, CHUNK = 1, 2, 3, 4, 5, 11, 12, 13

local statuses = {
	[0] = "OK", [1] = "CANCELLED", [2] = "UNKNOWN", [3] = "INVALID_ARGUMENT",
	[4] = "DEADLINE_EXCEEDED", [5] = "NOT_FOUND", [6] = "ALREADY_EXISTS",
	[7] = "PERMISSION_DENIED", [8] = "RESOURCE_EXHAUSTED", [9] = "FAILED_PRECONDITION",
	[10] = "ABORTED", [11] = "OUT_OF_RANGE", [12] = "UNIMPLEMENTED", [13] = "INTERNAL",
	[14] = "UNAVAILABLE", [15] = "DATA_LOSS", [16] = "UNAUTHENTICATED",
}

local verdicts = { [0] = "OK", [1] = "UNKNOWN", [2] = "MISMATCH" }

local collectives = {
	[0] = "AllReduce", [1] = "AllGather", [2] = "ReduceScatter", [3] = "Broadcast",
	[4] = "Reduce", [5] = "Gather", [6] = "Scatter", [7] = "AllToAll", [8] = "Barrier",
}

local algorithms = { [1] = "ring", [2] = "recursive", [3] = "binomial", [4] = "direct" }

local elems = {
	[0] = "i32", [1] = "i64", [2] = "u8", [3] = "f32", [4] = "f64", [5] = "bf16", [6] = "f16",
}

local reductions = {
	[0] = "sum", [1] = "min", [2] = "max", [3] = "prod", [4] = "and", [5] = "or",
}

local f = {
	magic = ProtoField.uint32("mrpc.magic", "Magic", base.HEX),
	version = ProtoField.uint8("mrpc.version", "Version"),
	type = ProtoField.uint8("mrpc.type", "Type", base.DEC, types),
	flags = ProtoField.uint16("mrpc.flags", "Flags", base.HEX),
	flag_end = ProtoField.bool("mrpc.flags.end", "END", 16, nil, 1),
	flag_msg = ProtoField.bool("mrpc.flags.msg", "MSG", 16, nil, 2),
	flag_crc = ProtoField.bool("mrpc.flags.crc", "CRC", 16, nil, 4),
	call_id = ProtoField.uint64("mrpc.call_id", "Call", base.HEX),
	slot = ProtoField.uint16("mrpc.slot", "Slot"),
	sequence = ProtoField.uint64("mrpc.sequence", "Sequence"),
	operation = ProtoField.uint64("mrpc.operation", "Operation"),
	msg_no = ProtoField.uint32("mrpc.msg_no", "Message number"),
	method = ProtoField.uint32("mrpc.method", "Method", base.HEX),
	service_index = ProtoField.uint16("mrpc.method.service", "Service's index"),
	method_index = ProtoField.uint16("mrpc.method.method", "Method's index"),
	status = ProtoField.uint16("mrpc.status", "Status", base.DEC, statuses),
	priority = ProtoField.uint8("mrpc.priority", "Priority"),
	reserved = ProtoField.uint8("mrpc.reserved", "Reserved", base.HEX),
	detail_len = ProtoField.uint32("mrpc.detail_len", "Bytes of detail"),
	meta_len = ProtoField.uint32("mrpc.meta_len", "Bytes of metadata"),
	structs = ProtoField.uint32("mrpc.structs", "Bytes of structs"),
	text = ProtoField.uint32("mrpc.text", "Bytes of text"),
	bytes = ProtoField.uint32("mrpc.bytes", "Bytes of bytes"),
	max_reply = ProtoField.uint32("mrpc.max_reply", "Largest reply"),
	crc = ProtoField.uint32("mrpc.crc", "Checksum", base.HEX),
	remaining = ProtoField.uint64("mrpc.remaining_us", "Remaining microseconds"),
	credit = ProtoField.uint64("mrpc.credit", "Limit of the stream, in bytes"),
	hello = ProtoField.none("mrpc.hello", "Hello"),
	version_min = ProtoField.uint8("mrpc.hello.version_min", "Lowest version"),
	version_max = ProtoField.uint8("mrpc.hello.version_max", "Highest version"),
	nr_services = ProtoField.uint16("mrpc.hello.nr_services", "Services"),
	max_message = ProtoField.uint32("mrpc.hello.max_message", "Largest message"),
	features = ProtoField.uint64("mrpc.hello.features", "Features", base.HEX),
	feature_change = ProtoField.bool("mrpc.hello.features.change", "CHANGE", 64, nil, 1),
	feature_crc = ProtoField.bool("mrpc.hello.features.crc", "CRC", 64, nil, 2),
	feature_abort = ProtoField.bool("mrpc.hello.features.abort", "ABORT", 64, nil, 4),
	feature_stream = ProtoField.bool("mrpc.hello.features.stream", "STREAM", 64, nil, 8),
	feature_group = ProtoField.bool("mrpc.hello.features.group", "GROUP", 64, nil, 16),
	max_calls = ProtoField.uint32("mrpc.hello.max_calls", "Calls in flight"),
	hello_status = ProtoField.uint16("mrpc.hello.status", "Status", base.DEC, statuses),
	identity_len = ProtoField.uint16("mrpc.hello.identity_len", "Bytes of identity"),
	service = ProtoField.string("mrpc.hello.service", "Service"),
	hash = ProtoField.bytes("mrpc.hello.hash", "Schema's SHA-256"),
	verdict = ProtoField.uint8("mrpc.hello.verdict", "Verdict", base.DEC, verdicts),
	identity = ProtoField.bytes("mrpc.hello.identity", "Identity"),
	meta = ProtoField.bytes("mrpc.meta", "Metadata"),
	meta_key = ProtoField.string("mrpc.meta.key", "Key"),
	meta_value = ProtoField.bytes("mrpc.meta.value", "Value"),
	body = ProtoField.none("mrpc.body", "Operation"),
	key = ProtoField.uint64("mrpc.body.key", "Group's key", base.HEX),
	count = ProtoField.uint64("mrpc.body.count", "Elements"),
	ranks = ProtoField.uint32("mrpc.body.ranks", "Ranks of the group"),
	rank = ProtoField.uint32("mrpc.body.rank", "Rank of the sender"),
	root = ProtoField.uint32("mrpc.body.root", "Root"),
	chunk = ProtoField.uint32("mrpc.body.chunk", "Largest chunk"),
	collective = ProtoField.uint8("mrpc.body.collective", "Collective", base.DEC, collectives),
	algorithm = ProtoField.uint8("mrpc.body.algorithm", "Algorithm", base.DEC, algorithms),
	elem = ProtoField.uint8("mrpc.body.elem", "Type of elements", base.DEC, elems),
	reduce = ProtoField.uint8("mrpc.body.reduce", "Reduction", base.DEC, reductions),
	body_reserved = ProtoField.uint32("mrpc.body.reserved", "Reserved", base.HEX),
	detail = ProtoField.string("mrpc.detail", "Detail"),
	section_structs = ProtoField.bytes("mrpc.section.structs", "Structs"),
	section_text = ProtoField.bytes("mrpc.section.text", "Text"),
	section_bytes = ProtoField.bytes("mrpc.section.bytes", "Bytes"),
	trailer_crc = ProtoField.uint32("mrpc.trailer.crc", "Checksum of the bytes", base.HEX),
}
mrpc.fields = f

local malformed = ProtoExpert.new("mrpc.malformed", "Malformed frame", expert.group.MALFORMED,
				  expert.severity.ERROR)
local failed = ProtoExpert.new("mrpc.failed", "The call has failed", expert.group.RESPONSE_CODE,
			       expert.severity.NOTE)
local refused = ProtoExpert.new("mrpc.refused", "A service is refused", expert.group.RESPONSE_CODE,
				expert.severity.WARN)
local ended = ProtoExpert.new("mrpc.ended", "The group has ended", expert.group.RESPONSE_CODE,
			      expert.severity.NOTE)
mrpc.experts = { malformed, failed, refused, ended }

local function align8(n)
	return math.floor((n + 7) / 8) * 8
end

local function header(tvb, tree, kind)
	local flags

	tree:add_le(f.magic, tvb(0, 4))
	tree:add(f.version, tvb(4, 1))
	tree:add(f.type, tvb(5, 1))
	flags = tree:add_le(f.flags, tvb(6, 2))
	flags:add_le(f.flag_end, tvb(6, 2))
	flags:add_le(f.flag_msg, tvb(6, 2))
	flags:add_le(f.flag_crc, tvb(6, 2))
	local id = tree:add_le(f.call_id, tvb(8, 8))
	if kind == CHUNK then
		id:add_le(f.operation, tvb(8, 8))
	else
		id:add_le(f.slot, tvb(8, 2))
		id:add_le(f.sequence, tvb(10, 6))
	end
	tree:add_le(f.msg_no, tvb(16, 4))
	local method = tree:add_le(f.method, tvb(20, 4))
	method:add_le(f.service_index, tvb(22, 2))
	method:add_le(f.method_index, tvb(20, 2))
	tree:add_le(f.status, tvb(24, 2))
	tree:add(f.priority, tvb(26, 1))
	tree:add(f.reserved, tvb(27, 1))
	tree:add_le(f.detail_len, tvb(28, 4))
	tree:add_le(f.meta_len, tvb(32, 4))
	tree:add_le(f.structs, tvb(36, 4))
	tree:add_le(f.text, tvb(40, 4))
	tree:add_le(f.bytes, tvb(44, 4))
	tree:add_le(f.max_reply, tvb(48, 4))
	tree:add_le(f.crc, tvb(52, 4))
	tree:add_le(kind == CREDIT and f.credit or f.remaining, tvb(56, 8))
end

-- Services of a hello. Returns where they end, or nothing if they do not fit.
local function services(tvb, tree)
	local at = 24

	for _ = 1, tvb(2, 2):le_uint() do
		if at + 35 > tvb:len() then
			return nil
		end
		local len = tvb(at + 33, 2):le_uint()
		if at + 35 + len > tvb:len() then
			return nil
		end
		local item = tree:add(f.service, tvb(at + 35, len))
		item:add(f.hash, tvb(at, 32))
		item:add(f.verdict, tvb(at + 32, 1))
		if tvb(at + 32, 1):uint() ~= 0 then
			item:add_proto_expert_info(refused)
		end
		at = at + 35 + len
	end
	return at
end

local function hello(tvb, tree)
	local item = tree:add(f.hello, tvb())

	if tvb:len() < 24 then
		item:add_proto_expert_info(malformed, "A hello's body has at least 24 bytes")
		return
	end
	item:add(f.version_min, tvb(0, 1))
	item:add(f.version_max, tvb(1, 1))
	item:add_le(f.nr_services, tvb(2, 2))
	item:add_le(f.max_message, tvb(4, 4))
	local features = item:add_le(f.features, tvb(8, 8))
	features:add_le(f.feature_change, tvb(8, 8))
	features:add_le(f.feature_crc, tvb(8, 8))
	features:add_le(f.feature_abort, tvb(8, 8))
	features:add_le(f.feature_stream, tvb(8, 8))
	features:add_le(f.feature_group, tvb(8, 8))
	item:add_le(f.max_calls, tvb(16, 4))
	item:add_le(f.hello_status, tvb(20, 2))
	item:add_le(f.identity_len, tvb(22, 2))
	local at = services(tvb, item)
	if not at or at + tvb(22, 2):le_uint() ~= tvb:len() then
		item:add_proto_expert_info(malformed, "The parts of the hello do not add up")
	elseif at < tvb:len() then
		item:add(f.identity, tvb(at))
	end
end

-- The body of an operation's first chunk
local function operation(tvb, tree)
	local item = tree:add(f.body, tvb())

	if tvb:len() ~= 40 then
		item:add_proto_expert_info(malformed, "A chunk's body has 40 bytes")
		return
	end
	item:add_le(f.key, tvb(0, 8))
	item:add_le(f.count, tvb(8, 8))
	item:add_le(f.ranks, tvb(16, 4))
	item:add_le(f.rank, tvb(20, 4))
	item:add_le(f.root, tvb(24, 4))
	item:add_le(f.chunk, tvb(28, 4))
	item:add(f.collective, tvb(32, 1))
	item:add(f.algorithm, tvb(33, 1))
	item:add(f.elem, tvb(34, 1))
	item:add(f.reduce, tvb(35, 1))
	item:add_le(f.body_reserved, tvb(36, 4))
end

local function metadata(tvb, tree)
	local item, at = tree:add(f.meta, tvb()), 0

	while at < tvb:len() do
		if at + 4 > tvb:len() then
			item:add_proto_expert_info(malformed, "Metadata ends in an entry")
			return
		end
		local klen, vlen = tvb(at, 2):le_uint(), tvb(at + 2, 2):le_uint()
		if klen == 0 or at + 4 + klen + vlen > tvb:len() then
			item:add_proto_expert_info(malformed, "An entry of metadata does not fit")
			return
		end
		local key = item:add(f.meta_key, tvb(at + 4, klen))
		if vlen > 0 then
			key:add(f.meta_value, tvb(at + 4 + klen, vlen))
		end
		at = at + 4 + klen + vlen
	end
end

-- What follows the header: metadata or a body, detail, message, trailer
local function sections(tvb, tree, kind)
	local at = HEADER

	local function part(len, padded)
		local range = len > 0 and tvb(at, len)
		at = at + (padded and align8(len) or len)
		return range
	end

	local meta = part(tvb(32, 4):le_uint(), true)
	if meta and (kind == HELLO or kind == HELLO_ACK) then
		hello(meta:tvb(), tree)
	elseif meta and kind == CHUNK then
		operation(meta:tvb(), tree)
	elseif meta then
		metadata(meta:tvb(), tree)
	end
	local detail = part(tvb(28, 4):le_uint(), true)
	if detail then
		tree:add(f.detail, detail)
	end
	local structs = part(tvb(36, 4):le_uint())
	if structs then
		tree:add(f.section_structs, structs)
	end
	local text = part(tvb(40, 4):le_uint())
	if text then
		tree:add(f.section_text, text)
	end
	at = align8(at)
	local bytes = part(tvb(44, 4):le_uint())
	if bytes then
		tree:add(f.section_bytes, bytes)
		if tvb(6, 2):le_uint() % 8 >= 4 then
			tree:add_le(f.trailer_crc, tvb(at, 4))
		end
	end
end

-- Bytes of the frame by its header
local function frame_len(tvb)
	local bytes = tvb(44, 4):le_uint()
	local trailer = bytes > 0 and tvb(6, 2):le_uint() % 8 >= 4 and 8 or 0

	return HEADER + align8(tvb(32, 4):le_uint()) + align8(tvb(28, 4):le_uint()) +
	       align8(tvb(36, 4):le_uint() + tvb(40, 4):le_uint()) + bytes + trailer
end

-- "3 of operation 7", "0 of operation 7: AllReduce by ring", "end: UNAVAILABLE"
local function summary_of_chunk(tvb)
	local no, status = tvb(16, 4):le_uint(), tvb(24, 2):le_uint()

	if status ~= 0 then
		return "end: " .. (statuses[status] or status)
	end
	local text = string.format("%d of operation %s", no, tvb(8, 8):le_uint64())
	if tvb(32, 4):le_uint() == 40 and tvb:len() >= HEADER + 40 then
		local collective, algorithm = tvb(HEADER + 32, 1):uint(), tvb(HEADER + 33, 1):uint()
		text = text .. string.format(": %s by %s", collectives[collective] or collective,
					     algorithms[algorithm] or algorithm)
	end
	return text
end

local function summary(tvb, kind)
	local text = types[kind] or string.format("type %d", kind)

	if kind >= CALL and kind <= CANCEL or kind == MESSAGE or kind == CREDIT then
		text = text .. string.format(" %s", tvb(8, 8):le_uint64():tohex())
	end
	if kind == CHUNK then
		text = text .. " " .. summary_of_chunk(tvb)
	elseif kind == MESSAGE then
		text = text .. string.format(" number %d", tvb(16, 4):le_uint())
	elseif kind == CREDIT then
		text = text .. string.format(" to %s", tvb(56, 8):le_uint64())
	elseif kind == CALL then
		text = text .. string.format(" method %d.%d", tvb(22, 2):le_uint(),
					     tvb(20, 2):le_uint())
	elseif kind == REPLY then
		local status = tvb(24, 2):le_uint()
		text = text .. " " .. (statuses[status] or status)
	end
	return text
end

function mrpc.dissector(tvb, pinfo, tree)
	local len = tvb:reported_length_remaining()

	if tvb:len() < HEADER or tvb(0, 4):le_uint() ~= 0x4352506d then
		return 0
	end
	local kind = tvb(5, 1):uint()
	local text = summary(tvb, kind)
	local item = tree:add(mrpc, tvb(), "mRPC frame, " .. text)

	header(tvb, item, kind)
	pinfo.cols.info:append(" [" .. text .. "]")
	if tvb(24, 2):le_uint() ~= 0 and (kind == REPLY or kind == CHUNK) then
		item:add_proto_expert_info(kind == REPLY and failed or ended)
	end
	if not types[kind] or tvb(4, 1):uint() ~= 1 then
		item:add_proto_expert_info(malformed, "Unknown version or type")
	elseif frame_len(tvb) ~= len then
		item:add_proto_expert_info(malformed, string.format(
			"The frame has %d bytes by its header, and %d", frame_len(tvb), len))
	elseif tvb:len() == len then
		sections(tvb, item, kind)
	end
	return tvb:len()
end
