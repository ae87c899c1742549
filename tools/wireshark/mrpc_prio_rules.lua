-- SPDX-License-Identifier: GPL-2.0
--
-- The rules of a packet of mRPC's prio transport that need no state: what is malformed, and its
-- checksum. For mrpc_prio.lua: Wireshark loads all scripts of a directory, and what they share is
-- the table of modules.

local rules = {}
package.loaded.mrpc_prio_rules = rules

local MAGIC, VERSION = 0x506d, 1
local HEADER, BODY, ENTRY = 24, 40, 24
local DATA, CONTROL, HELLO, COOKIE, WELCOME, RESET = 1, 2, 3, 4, 5, 6
local CRC, AGAIN, URGE, ECN = 1, 2, 4, 8
local GRANT, RESEND, ACK, REFUSE, PING, PONG = 1, 2, 3, 4, 7, 8
local KIND_MAX, OP_MAX, CODE_MAX = 3, 8, 4
local WINDOW, MAX_CONTROL, MAX_TOTAL = 1024, 56, 2 ^ 30 + 32768
local MAX_SHARED = 1200

local function has(flags, flag)
	return flags % (2 * flag) >= flag
end

local function zero(range)
	for i = 0, range:len() - 1 do
		if range:range(i, 1):uint() ~= 0 then
			return false
		end
	end
	return true
end

local type_flags = { [DATA] = CRC + AGAIN + URGE, [CONTROL] = CRC + ECN }

-- Each returns the reason that the packet is dropped with, or nothing.
local function check_header(tvb)
	local kind, flags = tvb(3, 1):uint(), tvb(4, 1):uint()
	local either = kind == DATA or kind == CONTROL

	if tvb(0, 2):le_uint() ~= MAGIC then
		return "magic"
	elseif tvb(2, 1):uint() ~= VERSION then
		return "version"
	elseif kind < DATA or kind > RESET then
		return "type"
	elseif bit.band(flags, bit.bnot(type_flags[kind] or CRC)) ~= 0 then
		return "flags"
	elseif not has(flags, CRC) and (not either or not zero(tvb(16, 4))) then
		return "flags"
	elseif kind ~= DATA and tvb(5, 1):uint() ~= 0 or
	       not either and (tvb(6, 2):le_uint() ~= 0 or not zero(tvb(20, 4))) then
		return "reserved"
	elseif zero(tvb(8, 8)) ~= (kind == HELLO) then
		return "range"
	end
end

-- @nr: bytes of the payload, if another packet follows, or 0; @cut: so others may be joined to it
local function check_data(tvb, len, nr, cut)
	if len < BODY then
		return "short"
	end
	local msg, total, offset = tvb(8, 8):le_uint64(), tvb(24, 4):le_uint(), tvb(28, 4):le_uint()
	local behind = tvb(38, 2):le_uint()

	if tvb(37, 1):uint() ~= 0 then
		return "reserved"
	elseif tvb(36, 1):uint() > KIND_MAX then
		return "type"
	elseif zero(tvb(0, 8)) or zero(tvb(8, 8)) or total > MAX_TOTAL or
	       tvb(32, 4):le_uint() > total or behind >= WINDOW or
	       (msg:higher() == 0 and behind >= msg:lower()) then
		return "range"
	elseif offset > total or (nr > 0 and nr or cut and 0 or len - BODY) > total - offset or
	       nr > 0 and (nr >= len - BODY or HEADER + len > MAX_SHARED) then
		return "length"
	end
end

local function check_entry(tvb)
	local from, to, op = tvb(8, 4):le_uint(), tvb(12, 4):le_uint(), tvb(16, 1):uint()
	local class, code = tvb(17, 1):uint(), tvb(18, 2):le_uint()
	local ranged = op == GRANT or op == RESEND

	if not zero(tvb(20, 4)) then
		return "reserved"
	elseif op < GRANT or op > OP_MAX then
		return "type"
	elseif op == REFUSE and (code < 1 or code > CODE_MAX) or op ~= REFUSE and code ~= 0 then
		return "type"
	elseif class ~= 0 and op ~= GRANT then
		return "reserved"
	elseif not ranged and op ~= ACK and (from ~= 0 or to ~= 0) then
		return "reserved"
	elseif class >= 7 or ranged and (to > MAX_TOTAL or from > to) or
	       op == RESEND and from == to then
		return "range"
	elseif op ~= PING and op ~= PONG and zero(tvb(0, 8)) then
		return "range"
	end
end

local function check_control(tvb, len, nr)
	if nr < 1 or nr > MAX_CONTROL then
		return "range"
	elseif len ~= nr * ENTRY then
		return "length"
	end
	for i = 0, nr - 1 do
		local why = check_entry(tvb(i * ENTRY, ENTRY))
		if why then
			return why
		end
	end
end

local function check_body(tvb, len, kind)
	if len ~= BODY then
		return "length"
	elseif kind == COOKIE and (not zero(tvb(0, 8)) or not zero(tvb(20, 12))) then
		return "reserved"
	elseif kind == WELCOME and not zero(tvb(8, 12)) then
		return "reserved"
	elseif kind ~= COOKIE and zero(tvb(0, 8)) then
		return "range"
	end
end

-- Bytes of the packet that a datagram, or the rest of one, begins with: another one may follow
function rules.size(tvb)
	local data = tvb:len() >= HEADER and tvb(3, 1):uint() == DATA
	local nr = data and tvb(6, 2):le_uint() or 0

	return nr > 0 and HEADER + BODY + nr or tvb:reported_len()
end

-- Whether a packet of the same association begins each @stride bytes
local function repeats(tvb, stride)
	for at = stride, tvb:len() - 1, stride do
		if tvb:len() - at < HEADER or not rules.plausible(tvb(at, HEADER)) or
		   tvb(at + 8, 8):uint64() ~= tvb(8, 8):uint64() then
			return false
		end
	end
	return true
end

-- Bytes of each datagram but the last, if the host that captured has joined several: it cuts what
-- it sends as late as it can, and what comes it joins as soon as it can, where lengths are equal.
function rules.stride(tvb)
	local at, len = 0, tvb:len()
	local stride

	if not rules.plausible(tvb) then
		return tvb:reported_len()
	end
	while len - at >= HEADER and tvb(at + 3, 1):uint() == DATA and tvb(at + 6, 2):le_uint() > 0 do
		at = at + HEADER + BODY + tvb(at + 6, 2):le_uint()
	end
	if len - at < HEADER then
		return tvb:reported_len()
	end
	local kind = tvb(at + 3, 1):uint()
	if kind == CONTROL then
		stride = at + HEADER + tvb(at + 6, 2):le_uint() * ENTRY
	elseif kind ~= DATA then
		stride = at + HEADER + (kind == RESET and 0 or BODY)
	else
		-- Its payload goes on until another header.
		local bytes = tvb:raw()
		stride = bytes:find(bytes:sub(1, 3), at + HEADER + BODY + 1, true)
		while stride and not repeats(tvb, stride - 1) do
			stride = bytes:find(bytes:sub(1, 3), stride + 1, true)
		end
		stride = stride and stride - 1 or len
	end
	return stride < len and repeats(tvb, stride) and stride or tvb:reported_len()
end

-- Why a packet is dropped as malformed, or nothing; of one that has whole_head(), with what follows.
function rules.check(tvb)
	local len = tvb:reported_len()

	if len < HEADER then
		return "short"
	end
	local why, kind = check_header(tvb), tvb(3, 1):uint()
	if why then
		return why
	end
	len = len - HEADER
	if kind == RESET then
		return len ~= 0 and "length" or nil
	elseif len == 0 then
		return kind == DATA and "short" or kind == CONTROL and
		       check_control(tvb, len, tvb(6, 2):le_uint()) or "length"
	end
	local rest = tvb(HEADER)
	if kind == DATA then
		return check_data(rest, len, tvb(6, 2):le_uint(), tvb:len() < tvb:reported_len())
	elseif kind == CONTROL then
		return check_control(rest, len, tvb(6, 2):le_uint())
	end
	return check_body(rest, len, kind)
end

-- Whether the capture has all that check() looks at
function rules.whole_head(tvb)
	local need = tvb:len() >= HEADER and tvb(3, 1):uint() == DATA and HEADER + BODY or
		     tvb:reported_len()

	return tvb:len() >= math.min(need, tvb:reported_len())
end

-- What looks like one, whatever the port
function rules.plausible(tvb)
	if tvb:len() < HEADER or tvb(0, 2):le_uint() ~= MAGIC or tvb(2, 1):uint() ~= VERSION then
		return false
	end
	local kind = tvb(3, 1):uint()

	return kind >= DATA and kind <= RESET and tvb(4, 1):uint() <= CRC + AGAIN + URGE + ECN and
	       zero(tvb(8, 8)) == (kind == HELLO)
end

local crc_table = {}
for i = 0, 255 do
	local v = i
	for _ = 1, 8 do
		v = v % 2 == 1 and bit.bxor(bit.rshift(v, 1), 0x82f63b78) or bit.rshift(v, 1)
	end
	crc_table[i] = v
end

function rules.crc_good(tvb)
	local bytes, sum = tvb:raw(), -1

	for i = 1, #bytes do
		local byte = (i > 16 and i <= 20) and 0 or bytes:byte(i)
		sum = bit.bxor(bit.rshift(sum, 8), crc_table[bit.band(bit.bxor(sum, byte), 255)])
	end
	return bit.tobit(bit.bnot(sum)) == bit.tobit(tvb(16, 4):le_uint())
end
