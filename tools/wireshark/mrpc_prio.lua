-- SPDX-License-Identifier: GPL-2.0
--
-- Packets of mRPC's prio transport, as Documentation/prio-protocol.rst describes them: every
-- field, what is malformed and why, and messages as a whole: which packets are theirs, what was
-- sent again, granted and acknowledged, which reply belongs to which request. A message that is one
-- frame of the native wire format goes to the dissector "mrpc".
--
-- The rules of a packet alone are in mrpc_prio_rules.lua.
--
-- The first visit of a packet learns, each visit shows what is known by then; references to
-- later packets need tshark's option -2. Nothing is known of packets before the capture.

local prio = Proto("mrpc_prio", "mRPC prio transport")

local HEADER, BODY, ENTRY = 24, 40, 24
local DATA, CONTROL, HELLO, COOKIE, WELCOME, RESET = 1, 2, 3, 4, 5, 6
local CRC, AGAIN, URGE, ECN = 1, 2, 4, 8
local GRANT, RESEND, ACK, REFUSE, PING, PONG = 1, 2, 3, 4, 7, 8
local REQUEST, REPLY = 1, 2
local KEEP, KEEP_ALL = 2 ^ 20, 2 ^ 27	-- bytes of a message, of all, that are put together

-- That script may be loaded after this one.
local function rules()
	return require("mrpc_prio_rules")
end

local types = {
	[DATA] = "DATA", [CONTROL] = "CONTROL", [HELLO] = "HELLO", [COOKIE] = "COOKIE",
	[WELCOME] = "WELCOME", [RESET] = "RESET",
}
local kinds = { [0] = "OPEN", [1] = "REQUEST", [2] = "REPLY", [3] = "OTHER" }
local ops = {
	[1] = "GRANT", [2] = "RESEND", [3] = "ACK", [4] = "REFUSE", [5] = "BUSY", [6] = "ABORT",
	[7] = "PING", [8] = "PONG",
}
local codes = { [1] = "LATER", [2] = "UNKNOWN", [3] = "TOO_BIG", [4] = "REJECTED" }

-- ---- fields -----------------------------------------------------------------

local f = {
	magic = ProtoField.uint16("mrpc_prio.magic", "Magic", base.HEX),
	version = ProtoField.uint8("mrpc_prio.version", "Version"),
	type = ProtoField.uint8("mrpc_prio.type", "Type", base.DEC, types),
	flags = ProtoField.uint8("mrpc_prio.flags", "Flags", base.HEX),
	flag_crc = ProtoField.bool("mrpc_prio.flags.crc", "CRC", 8, nil, CRC),
	flag_again = ProtoField.bool("mrpc_prio.flags.again", "AGAIN", 8, nil, AGAIN),
	flag_urge = ProtoField.bool("mrpc_prio.flags.urge", "URGE", 8, nil, URGE),
	flag_ecn = ProtoField.bool("mrpc_prio.flags.ecn", "ECN", 8, nil, ECN),
	priority = ProtoField.uint8("mrpc_prio.priority", "Priority"),
	nr = ProtoField.uint16("mrpc_prio.nr", "Entries, or bytes of payload before another packet"),
	to = ProtoField.uint64("mrpc_prio.to", "Receiver's token", base.HEX),
	crc = ProtoField.uint32("mrpc_prio.crc", "Checksum", base.HEX),
	crc_good = ProtoField.bool("mrpc_prio.crc.good", "Checksum is right"),
	from = ProtoField.uint32("mrpc_prio.from", "Sender's token, lower half", base.HEX),

	conn = ProtoField.uint64("mrpc_prio.conn", "Connection"),
	msg = ProtoField.uint64("mrpc_prio.msg", "Message"),
	ack = ProtoField.uint64("mrpc_prio.ack", "Acknowledged message"),
	total = ProtoField.uint32("mrpc_prio.total", "Bytes of the message"),
	offset = ProtoField.uint32("mrpc_prio.offset", "Offset"),
	unscheduled = ProtoField.uint32("mrpc_prio.unscheduled", "Unscheduled bytes"),
	kind = ProtoField.uint8("mrpc_prio.kind", "Kind", base.DEC, kinds),
	reserved = ProtoField.uint8("mrpc_prio.reserved", "Reserved", base.HEX),
	behind = ProtoField.uint16("mrpc_prio.behind", "Behind"),
	payload = ProtoField.bytes("mrpc_prio.payload", "Payload"),

	entry = ProtoField.none("mrpc_prio.entry", "Entry"),
	entry_msg = ProtoField.uint64("mrpc_prio.entry.msg", "Message"),
	entry_from = ProtoField.uint32("mrpc_prio.entry.from", "From"),
	entry_to = ProtoField.uint32("mrpc_prio.entry.to", "To"),
	entry_op = ProtoField.uint8("mrpc_prio.entry.op", "Op", base.DEC, ops),
	entry_class = ProtoField.uint8("mrpc_prio.entry.class", "Network priority"),
	entry_code = ProtoField.uint16("mrpc_prio.entry.code", "Code", base.DEC, codes),
	entry_reserved = ProtoField.uint32("mrpc_prio.entry.reserved", "Reserved", base.HEX),
	acked = ProtoField.uint64("mrpc_prio.entry.acked", "Also acknowledged"),

	token = ProtoField.uint64("mrpc_prio.token", "Sender's token", base.HEX),
	cookie = ProtoField.uint64("mrpc_prio.cookie", "Cookie", base.HEX),
	epoch = ProtoField.uint32("mrpc_prio.epoch", "Epoch"),
	features = ProtoField.uint32("mrpc_prio.features", "Features", base.HEX),
	feature_crc = ProtoField.bool("mrpc_prio.features.crc", "CRC", 32, nil, 1),
	budget = ProtoField.uint32("mrpc_prio.budget", "Unscheduled bytes that are taken"),
	max_total = ProtoField.uint32("mrpc_prio.max_total", "Largest message"),
	stamp = ProtoField.uint64("mrpc_prio.stamp", "Stamp"),

	malformed = ProtoField.string("mrpc_prio.malformed", "Dropped as malformed"),
	first_in = ProtoField.framenum("mrpc_prio.first_in", "First packet of the message"),
	complete_in = ProtoField.framenum("mrpc_prio.complete_in", "Message complete with"),
	sent_in = ProtoField.framenum("mrpc_prio.sent_in", "Sent before in", base.NONE,
				      frametype.RETRANS_PREV),
	granted_in = ProtoField.framenum("mrpc_prio.granted_in", "Granted in"),
	acked_in = ProtoField.framenum("mrpc_prio.acked_in", "Acknowledged in", base.NONE,
				       frametype.ACK),
	request_in = ProtoField.framenum("mrpc_prio.request_in", "Request in", base.NONE,
					 frametype.REQUEST),
	response_in = ProtoField.framenum("mrpc_prio.response_in", "Response in", base.NONE,
					  frametype.RESPONSE),
	time = ProtoField.relative_time("mrpc_prio.time", "Time since the request"),
	more = ProtoField.uint32("mrpc_prio.entry.more", "Newly granted bytes"),
}
prio.fields = f

local group, severity = expert.group, expert.severity
local e = {
	malformed = ProtoExpert.new("mrpc_prio.expert.malformed", "Malformed packet",
				    group.MALFORMED, severity.ERROR),
	crc = ProtoExpert.new("mrpc_prio.expert.crc", "Wrong checksum", group.CHECKSUM,
			      severity.ERROR),
	again = ProtoExpert.new("mrpc_prio.expert.retransmission", "Sent before", group.SEQUENCE,
				severity.NOTE),
	announced = ProtoExpert.new("mrpc_prio.expert.announced", "Announced again",
				    group.SEQUENCE, severity.NOTE),
	ungranted = ProtoExpert.new("mrpc_prio.expert.ungranted",
				    "No grant for this is in the capture", group.SEQUENCE,
				    severity.WARN),
	mismatch = ProtoExpert.new("mrpc_prio.expert.mismatch",
				   "Not as in the message's first packet", group.PROTOCOL,
				   severity.WARN),
	resend = ProtoExpert.new("mrpc_prio.expert.resend", "Bytes are missing", group.SEQUENCE,
				 severity.NOTE),
	refused = ProtoExpert.new("mrpc_prio.expert.refused", "The message is refused",
				  group.RESPONSE_CODE, severity.WARN),
	abort = ProtoExpert.new("mrpc_prio.expert.abort", "The message is given up",
				group.RESPONSE_CODE, severity.NOTE),
	reset = ProtoExpert.new("mrpc_prio.expert.reset", "No such association", group.SEQUENCE,
				severity.WARN),
	ecn = ProtoExpert.new("mrpc_prio.expert.ecn", "Congestion was experienced",
			      group.SEQUENCE, severity.NOTE),
}
prio.experts = e

prio.prefs.ports = Pref.range("UDP ports", "", "Ports of the transport, besides what looks like it",
			      65535)
prio.prefs.check = Pref.bool("Check checksums", true, "Compute crc32c of packets that have one")

-- ---- what is known of messages ----------------------------------------------

local messages, calls, seen, kept	-- by key; by key; by packet's number and place in it; bytes

function prio.init()
	messages, calls, seen, kept = {}, {}, {}, 0
end

-- By the lower halves of the receiver's and the sender's token, and the number
local function message(receiver, sender, msg)
	local key = string.format("%u:%u:%s", receiver, sender, tostring(msg))

	messages[key] = messages[key] or { covered = {}, pieces = {}, grants = {}, got = 0 }
	return messages[key]
end

-- The first in a list that is sorted by @key whose @key is at least @value
local function first(list, key, value)
	local low, high = 1, #list + 1

	while low < high do
		local middle = math.floor((low + high) / 2)
		if list[middle][key] < value then
			low = middle + 1
		else
			high = middle
		end
	end
	return low
end

-- The bytes [from, to) were sent in packet @number. Returns how many of them were not before,
-- and, if some were, in which packet.
local function cover(m, from, to, number)
	local list, new, before = m.covered, 0, nil
	local at, i = from, first(m.covered, "to", from + 1)

	while at < to do
		local gap = math.min(to, list[i] and list[i].from or to)
		if gap > at then
			table.insert(list, i, { from = at, to = gap, number = number })
			new = new + gap - at
			at = gap
		else
			before = list[i].number
			at = list[i].to
		end
		i = i + 1
	end
	m.got = m.got + new
	return new, before
end

local function keep(m, offset, bytes)
	if m.total <= KEEP and kept + #bytes <= KEEP_ALL then
		kept = kept + #bytes
		m.pieces[#m.pieces + 1] = { offset = offset, bytes = bytes }
	end
	if offset == 0 then
		m.head = bytes
	end
end

local function put_together(m)
	local parts, at = {}, 0

	table.sort(m.pieces, function(a, b) return a.offset < b.offset end)
	for _, p in ipairs(m.pieces) do
		if p.offset <= at and p.offset + #p.bytes > at then
			parts[#parts + 1] = p.bytes:sub(at - p.offset + 1)
			at = p.offset + #p.bytes
		end
	end
	m.pieces = {}
	if at == m.total then
		m.content = table.concat(parts)
	end
end

-- A request and its reply have the call's number and the client's connection.
local function learn_call(m, client, server)
	if not m.head or #m.head < 64 or m.head:sub(1, 4) ~= "mPRC" then
		return
	end
	local key = string.format("%u:%u:%s:", client, server, m.conn) .. m.head:sub(9, 16)

	calls[key] = calls[key] or {}
	m.call = calls[key]
	if m.kind == REQUEST then
		m.call.request = m.call.request or m
	else
		m.call.response = m.call.response or m
	end
end

local function learn_payload(rec, m, p, number)
	local new

	if p.len == 0 and p.total > 0 then
		rec.announced = m.first ~= number and m.first
		return
	end
	new, rec.before = cover(m, p.offset, p.offset + p.len, number)
	if new > 0 or p.total == 0 then
		keep(m, p.offset, p.bytes)
	end
	if m.got == m.total and not m.complete then
		m.complete, rec.completes = number, true
		put_together(m)
	end
	if p.offset + p.len > math.min(p.unscheduled, p.total) then
		local grant = m.grants[first(m.grants, "to", p.offset + p.len)]
		rec.granted, rec.ungranted = grant and grant.number, not grant
	end
end

local function learn_data(p, pinfo)
	local m = message(p.to:lower(), p.from, p.msg)
	local rec = { m = m }

	if not m.first then
		m.first, m.time, m.total, m.kind = pinfo.number, pinfo.rel_ts, p.total, p.kind
		m.conn = tostring(p.conn)
	elseif m.total ~= p.total or m.kind ~= p.kind or m.conn ~= tostring(p.conn) then
		rec.mismatch = true
	end
	if not rec.mismatch and p.bytes then
		learn_payload(rec, m, p, pinfo.number)
		if not m.call and p.kind == REQUEST then
			learn_call(m, p.from, p.to:lower())
		elseif not m.call and p.kind == REPLY then
			learn_call(m, p.to:lower(), p.from)
		end
	end
	if p.ack ~= UInt64(0) then
		rec.ack = message(p.from, p.to:lower(), p.ack)
		rec.ack.acked = rec.ack.acked or pinfo.number
	end
	return rec
end

-- Entries by the receiver of a message are about what the other end sends, BUSY and ABORT about
-- what this one does.
local function learn_entry(p, entry, number)
	local receiver, sender = p.from, p.to:lower()
	local known = {}

	if entry.op > REFUSE then
		receiver, sender = sender, receiver
	end
	if entry.op == PING or entry.op == PONG then
		return known
	end
	known.m = message(receiver, sender, entry.msg)
	if entry.op == GRANT or entry.op == RESEND then
		local last = known.m.grants[#known.m.grants]
		local before = last and last.to or 0
		if entry.to > before then
			known.more = entry.to - before
			table.insert(known.m.grants, { to = entry.to, number = number })
		end
	elseif entry.op == ACK then
		known.m.acked = known.m.acked or number
		known.also = {}
		for i = 0, 63 do
			local word = i < 32 and entry.from or entry.to
			if bit.band(bit.rshift(word, i % 32), 1) == 1 then
				local msg = entry.msg + UInt64(i + 1)
				local m = message(receiver, sender, msg)
				m.acked = m.acked or number
				known.also[#known.also + 1] = msg
			end
		end
	end
	return known
end

-- ---- showing ----------------------------------------------------------------

local function generated(tree, field, value)
	if value then
		tree:add(field, value):set_generated()
	end
end

local function show_header(tvb, tree)
	tree:add_le(f.magic, tvb(0, 2))
	tree:add(f.version, tvb(2, 1))
	tree:add(f.type, tvb(3, 1))
	local flags = tree:add(f.flags, tvb(4, 1))
	for _, flag in ipairs({ f.flag_crc, f.flag_again, f.flag_urge, f.flag_ecn }) do
		flags:add(flag, tvb(4, 1))
	end
	tree:add(f.priority, tvb(5, 1))
	tree:add_le(f.nr, tvb(6, 2))
	tree:add_le(f.to, tvb(8, 8))
	local crc = tree:add_le(f.crc, tvb(16, 4))
	if prio.prefs.check and bit.band(tvb(4, 1):uint(), CRC) ~= 0 and
	   tvb:len() == tvb:reported_len() then
		local good = rules().crc_good(tvb)
		crc:add(f.crc_good, good):set_generated()
		if not good then
			crc:add_proto_expert_info(e.crc)
		end
	end
	tree:add_le(f.from, tvb(20, 4))
end

local function show_message(tree, m, number)
	generated(tree, f.first_in, m.first ~= number and m.first)
	generated(tree, f.complete_in, m.complete ~= number and m.complete)
	generated(tree, f.acked_in, m.acked)
	local request, response = m.call and m.call.request, m.call and m.call.response
	if request and m == response then
		generated(tree, f.request_in, request.first)
		local time = m.time - request.time
		generated(tree, f.time, NSTime.new(math.floor(time),
						   math.floor(time % 1 * 1e9 + 0.5)))
	elseif response and m == request then
		generated(tree, f.response_in, response.first)
	end
end

local function show_data_marks(tree, rec)
	if rec.mismatch then
		tree:add_proto_expert_info(e.mismatch)
	end
	if rec.before then
		generated(tree, f.sent_in, rec.before)
		tree:add_proto_expert_info(e.again)
	elseif rec.announced then
		generated(tree, f.sent_in, rec.announced)
		tree:add_proto_expert_info(e.announced)
	end
	generated(tree, f.granted_in, rec.granted)
	if rec.ungranted then
		tree:add_proto_expert_info(e.ungranted)
	end
end

-- The upper layer's frame, when the message is complete
local function show_content(tvb, pinfo, tree, p, rec)
	local native, m = Dissector.get("mrpc"), rec.m

	if not rec.completes or not m.head or m.head:sub(1, 4) ~= "mPRC" then
		return
	elseif p.offset == 0 and p.len == p.total then
		native:call(tvb(HEADER + BODY):tvb(), pinfo, tree)
	elseif m.content then
		native:call(ByteArray.new(m.content, true):tvb("mRPC message"), pinfo, tree)
	end
end

local function read_data(tvb)
	local p = {
		to = tvb(8, 8):le_uint64(), from = tvb(20, 4):le_uint(),
		conn = tvb(24, 8):le_uint64(), msg = tvb(32, 8):le_uint64(),
		ack = tvb(40, 8):le_uint64(), total = tvb(48, 4):le_uint(),
		offset = tvb(52, 4):le_uint(), unscheduled = tvb(56, 4):le_uint(),
		kind = tvb(60, 1):uint(), len = tvb:reported_len() - HEADER - BODY,
	}

	if tvb:len() == tvb:reported_len() then
		p.bytes = p.len > 0 and tvb(HEADER + BODY):raw() or ""
	end
	return p
end

local function show_data_fields(tvb, tree, acked)
	tree:add_le(f.conn, tvb(24, 8))
	tree:add_le(f.msg, tvb(32, 8))
	generated(tree:add_le(f.ack, tvb(40, 8)), f.first_in, acked and acked.first)
	tree:add_le(f.total, tvb(48, 4))
	tree:add_le(f.offset, tvb(52, 4))
	tree:add_le(f.unscheduled, tvb(56, 4))
	tree:add(f.kind, tvb(60, 1))
	tree:add(f.reserved, tvb(61, 1))
	tree:add_le(f.behind, tvb(62, 2))
	if tvb:len() > HEADER + BODY then
		tree:add(f.payload, tvb(HEADER + BODY))
	end
end

local function show_data(tvb, pinfo, tree, root, key)
	local p = read_data(tvb)

	seen[key] = seen[key] or learn_data(p, pinfo)
	local rec = seen[key]
	show_data_fields(tvb, tree, rec.ack)
	show_message(tree, rec.m, pinfo.number)
	show_data_marks(tree, rec)
	-- What is cut may have been several datagrams.
	pinfo.cols.info:set(string.format("%sDATA %s %s [%u, %s) of %u",
		rec.before and "[sent before] " or rec.announced and "[announced again] " or "",
		kinds[p.kind], tostring(p.msg), p.offset,
		p.bytes and tostring(p.offset + p.len) or "?", p.total))
	show_content(tvb, pinfo, root, p, rec)
end

local function entry_text(entry)
	local text = string.format("%s %s", ops[entry.op], tostring(entry.msg))

	if entry.op == GRANT or entry.op == RESEND then
		text = text .. string.format(" [%u, %u)", entry.from, entry.to)
	elseif entry.op == REFUSE then
		text = text .. " " .. codes[entry.code]
	end
	return text
end

local function read_entry(tvb)
	return {
		msg = tvb(0, 8):le_uint64(), from = tvb(8, 4):le_uint(), to = tvb(12, 4):le_uint(),
		op = tvb(16, 1):uint(), code = tvb(18, 2):le_uint(),
	}
end

local entry_experts = { [RESEND] = e.resend, [REFUSE] = e.refused, [6] = e.abort }

local function show_entry_fields(tvb, tree)
	tree:add_le(f.entry_msg, tvb(0, 8))
	tree:add_le(f.entry_from, tvb(8, 4))
	tree:add_le(f.entry_to, tvb(12, 4))
	tree:add(f.entry_op, tvb(16, 1))
	tree:add(f.entry_class, tvb(17, 1))
	tree:add_le(f.entry_code, tvb(18, 2))
	tree:add_le(f.entry_reserved, tvb(20, 4))
end

local function show_entry(tvb, tree, entry, known)
	local item = tree:add(f.entry, tvb)

	item:set_text(entry_text(entry))
	show_entry_fields(tvb, item)
	generated(item, f.more, known.more)
	generated(item, f.first_in, known.m and known.m.first)
	for _, msg in ipairs(known.also or {}) do
		generated(item, f.acked, msg)
	end
	if entry_experts[entry.op] then
		item:add_proto_expert_info(entry_experts[entry.op])
	end
end

local function show_control(tvb, pinfo, tree, key)
	local p = { to = tvb(8, 8):le_uint64(), from = tvb(20, 4):le_uint() }
	local learned, texts = seen[key] or {}, {}

	for i = 1, tvb(6, 2):le_uint() do
		local range = tvb(HEADER + (i - 1) * ENTRY, ENTRY)
		local entry = read_entry(range)
		learned[i] = learned[i] or learn_entry(p, entry, pinfo.number)
		show_entry(range, tree, entry, learned[i])
		texts[i] = entry_text(entry)
	end
	seen[key] = learned
	if bit.band(tvb(4, 1):uint(), ECN) ~= 0 then
		tree:add_proto_expert_info(e.ecn)
	end
	pinfo.cols.info:set("CONTROL " .. table.concat(texts, ", "))
end

local function show_body(tvb, pinfo, tree)
	tree:add_le(f.token, tvb(24, 8))
	tree:add_le(f.cookie, tvb(32, 8))
	tree:add_le(f.epoch, tvb(40, 4))
	tree:add_le(f.features, tvb(44, 4)):add_le(f.feature_crc, tvb(44, 4))
	tree:add_le(f.budget, tvb(48, 4))
	tree:add_le(f.max_total, tvb(52, 4))
	tree:add_le(f.stamp, tvb(56, 8))
	pinfo.cols.info:set(types[tvb(3, 1):uint()] ..
			    (tvb(32, 8):uint64() == UInt64(0) and "" or " with cookie"))
end

-- As far as it goes
local function show_malformed(tvb, pinfo, tree, why)
	pinfo.cols.info:set("Malformed: " .. why)
	generated(tree, f.malformed, why)
	tree:add_proto_expert_info(e.malformed, "Dropped as malformed: " .. why)
	if tvb:len() < HEADER then
		return
	end
	local kind = tvb(3, 1):uint()
	if kind == DATA and tvb:len() >= HEADER + BODY then
		show_data_fields(tvb, tree)
	elseif kind == CONTROL then
		for at = HEADER, tvb:len() - ENTRY, ENTRY do
			show_entry_fields(tvb(at, ENTRY), tree:add(f.entry, tvb(at, ENTRY)))
		end
	end
end

-- The packet that @rest of the datagram begins with, @at bytes from its beginning. Returns its bytes,
-- or nothing if what follows does not count.
local function show_packet(rest, at, pinfo, tree)
	local whole = rules().whole_head(rest)
	local why = whole and rules().check(rest)
	local size = not why and rules().size(rest)
	local tvb = size and size < rest:len() and rest(0, size):tvb() or rest
	local item = tree:add(prio, tvb())
	local kind = tvb:len() >= HEADER and tvb(3, 1):uint()
	local key = string.format("%u:%u", pinfo.number, at)

	if kind then
		show_header(tvb, item)
	end
	if why then
		show_malformed(tvb, pinfo, item, why)
	elseif not whole then
		pinfo.cols.info:set("Cut by the capture")
	elseif kind == DATA then
		show_data(tvb, pinfo, item, tree, key)
	elseif kind == CONTROL then
		show_control(tvb, pinfo, item, key)
	elseif kind == RESET then
		item:add_proto_expert_info(e.reset)
		pinfo.cols.info:set("RESET")
	else
		show_body(tvb, pinfo, item)
	end
	return whole and size
end

-- A datagram, @base bytes from the beginning of the captured packet
local function show_datagram(tvb, base, cut, pinfo, tree)
	local at = 0
	local size

	repeat
		local rest = at == 0 and tvb or tvb(at):tvb()
		-- How long the rest was is not known of a part of it.
		if at > 0 and cut and rules().size(rest) >= rest:len() then
			break
		end
		size = show_packet(rest, base + at, pinfo, tree)
		at = at + (size or 0)
		if size and at < tvb:len() then
			pinfo.cols.info:append("; ")
			pinfo.cols.info:fence()
		end
	until not size or at >= tvb:len()
end

function prio.dissector(tvb, pinfo, tree)
	local len, cut = tvb:len(), tvb:len() < tvb:reported_len()
	local stride = rules().stride(tvb)

	pinfo.cols.protocol:set("mRPC-prio")
	pinfo.cols.info:clear()
	if stride >= len then
		show_datagram(tvb, 0, cut, pinfo, tree)
		return len
	end
	-- The last may be shorter than the others, so it must be there to be known.
	for at = 0, len - 1, stride do
		local whole = len - at >= stride or not cut
		if at > 0 then
			pinfo.cols.info:append("; ")
			pinfo.cols.info:fence()
		end
		if not whole then
			pinfo.cols.info:set("Cut by the capture")
			break
		end
		show_datagram(tvb(at, math.min(stride, len - at)):tvb(), at, false, pinfo, tree)
	end
	return len
end

-- ---- which packets ----------------------------------------------------------

local function looks_like_it(tvb, pinfo, tree)
	if not rules().plausible(tvb) then
		return false
	end
	pinfo.conversation = prio
	prio.dissector(tvb, pinfo, tree)
	return true
end

prio:register_heuristic("udp", looks_like_it)

local ports = ""
local udp = DissectorTable.get("udp.port")
udp:add_for_decode_as(prio)

function prio.prefs_changed()
	if ports ~= "" then
		udp:remove(ports, prio)
	end
	ports = prio.prefs.ports
	if ports ~= "" then
		udp:add(ports, prio)
	end
end
