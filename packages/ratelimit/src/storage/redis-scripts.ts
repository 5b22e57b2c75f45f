/** Shared by the scripts: sums over slots, oldest forgotten. Times are milliseconds of the server's own clock. */
const PRELUDE = `
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
-- Sum of the slots of a hash that still count, and when it would be at most 'allowed'.
local function look(key, slot_ms, slots, now, allowed)
  local all = redis.call('HGETALL', key)
  if #all == 0 then return 0, 0 end
  local first = math.floor(now / slot_ms) - slots
  local total, live, old = 0, {}, {}
  for i = 1, #all, 2 do
    local slot, amount = tonumber(all[i]), tonumber(all[i + 1])
    if slot < first then old[#old + 1] = all[i]
    else
      total = total + amount
      live[#live + 1] = {slot, amount}
    end
  end
  if #old > 0 then redis.call('HDEL', key, unpack(old)) end
  if total <= allowed then return total, 0 end
  table.sort(live, function(a, b) return a[1] < b[1] end)
  local left, wait = total, 0
  for i = 1, #live do
    left = left - live[i][2]
    wait = (live[i][1] + slots + 1) * slot_ms - now
    if left <= allowed then break end
  end
  return total, wait
end
local function add(key, slot_ms, slots, now, amount)
  local field = string.format('%d', math.floor(now / slot_ms))
  redis.call('HINCRBY', key, field, amount)
  redis.call('PEXPIRE', key, math.ceil(slot_ms * (slots + 1)))
end
`;

/**
 * Checks every limit and charges all or nothing. KEYS: primary, ban, rejections, then one per sum or set that is asked
 * for, in the order of the arguments. Answers {kind, used, reset, wait in ms, level and end of a ban that began}.
 */
export const ADMIT = `${PRELUDE}
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local minute, hour = tonumber(ARGV[4]) / 6, tonumber(ARGV[5]) / 60
local ban_threshold, ban_ms, rejected = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local dry = ARGV[9] == '1'
local now = now_ms()
local now_sec = math.floor(now / 1000)

local used, reset = 0, now_sec + window
if limit >= 0 then
  local value = redis.call('GET', KEYS[1])
  if value then
    local left = redis.call('PTTL', KEYS[1])
    if left > 0 then
      used = tonumber(value)
      reset = math.min(reset, math.floor((now + left) / 1000 + 0.5))
    end
  end
end

local kind, wait = '', 0
local ban = ban_threshold > 0 and redis.call('GET', KEYS[2])
if ban then
  local untilms = tonumber(string.match(ban, ':(%d+)$'))
  if untilms > now then kind, wait = 'ban', untilms - now end
end
if kind == '' and limit >= 0 and cost > 0 and used + cost > limit then
  kind, wait = 'primary', reset * 1000 - now
end

-- Sums: name, slot length (m or h), amount to charge, most that may be there before it.
local sums, key = {}, 4
local slot_key, slot_id, slot_max, slot_ms
local i = 10
while ARGV[i] do
  if ARGV[i] == 'slot' then
    slot_key, slot_id, slot_max, slot_ms = KEYS[key], ARGV[i + 1], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
    if kind == '' then
      redis.call('ZREMRANGEBYSCORE', slot_key, '-inf', now)
      if redis.call('ZCARD', slot_key) >= slot_max then kind, wait = 'concurrency', -1 end
    end
  else
    local length, slots = minute, 6
    if ARGV[i + 1] == 'h' then length, slots = hour, 60 end
    local amount, allowed = tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
    if kind == '' then
      local total, later = look(KEYS[key], length, slots, now, allowed)
      if total > allowed then kind, wait = ARGV[i], later end
    end
    if amount > 0 then sums[#sums + 1] = {KEYS[key], length, slots, amount} end
  end
  key = key + 1
  i = i + 4
end

if dry then return {kind, used, reset, wait, 0, 0} end

local level, untilms = 0, 0
if kind ~= '' or rejected > 0 then
  local count = rejected
  if kind ~= '' and kind ~= 'ban' then count = count + 1 end
  if count > 0 and ban_threshold > 0 then
    local total = redis.call('INCRBY', KEYS[3], count)
    if total == count then redis.call('PEXPIRE', KEYS[3], 600000) end
    if total >= ban_threshold then
      redis.call('DEL', KEYS[3])
      level = 1
      if ban then
        local last = tonumber(string.match(ban, ':(%d+)$'))
        if now - last < 86400000 then level = tonumber(string.match(ban, '^(%d+)')) + 1 end
      end
      untilms = now + math.min(86400000, ban_ms * 2 ^ (level - 1))
      redis.call('SET', KEYS[2], string.format('%d:%d', level, untilms), 'PX', string.format('%d', untilms - now + 86400000))
    end
  end
end
if kind ~= '' then return {kind, used, reset, wait, level, untilms} end

if limit >= 0 and cost > 0 then
  if used == 0 then
    redis.call('SET', KEYS[1], cost)
    redis.call('PEXPIREAT', KEYS[1], string.format('%d', reset * 1000))
  else
    redis.call('INCRBY', KEYS[1], cost)
  end
  used = used + cost
end
for _, sum in ipairs(sums) do add(sum[1], sum[2], sum[3], now, sum[4]) end
if slot_key then
  redis.call('ZADD', slot_key, now + slot_ms, slot_id)
  redis.call('PEXPIRE', slot_key, slot_ms)
end
return {'', used, reset, 0, level, untilms}
`;

/**
 * What is due after the admission, each part only if asked for. KEYS: primary, slots, CPU, CPU of graph queries.
 * ARGV: cost to give back, reset of its window, slot to give back, CPU ms, 1 for a graph query, minute in ms.
 */
export const SETTLE = `${PRELUDE}
local now = now_ms()
local cost = tonumber(ARGV[1])
if cost > 0 then
  local left = redis.call('PTTL', KEYS[1])
  -- A window that has begun since then owes nothing to this request.
  if left > 0 and math.floor((now + left) / 1000 + 0.5) == tonumber(ARGV[2]) then
    if redis.call('DECRBY', KEYS[1], cost) < 0 then redis.call('SET', KEYS[1], 0, 'KEEPTTL') end
  end
end
if ARGV[3] ~= '' then redis.call('ZREM', KEYS[2], ARGV[3]) end
local cpu = tonumber(ARGV[4])
if cpu > 0 then
  local slot_ms = tonumber(ARGV[6]) / 6
  add(KEYS[3], slot_ms, 6, now, cpu)
  if ARGV[5] == '1' then add(KEYS[4], slot_ms, 6, now, cpu) end
end
return 1
`;

/** Used and reset of each primary bucket in KEYS, flat; 0 and 0 where none is open. */
export const USAGE = `${PRELUDE}
local now = now_ms()
local found = {}
for i = 1, #KEYS do
  local value, left = redis.call('GET', KEYS[i]), redis.call('PTTL', KEYS[i])
  local is_open = value and left > 0
  found[#found + 1] = is_open and tonumber(value) or 0
  found[#found + 1] = is_open and math.floor((now + left) / 1000 + 0.5) or 0
end
return found
`;

/** Sums of the hashes in KEYS (the last one per hour), then the slots that are taken. */
export const SECONDARY = `${PRELUDE}
local now = now_ms()
local found = {}
for i = 1, #KEYS - 1 do
  local slot_ms, slots = tonumber(ARGV[1]) / 6, 6
  if i == #KEYS - 1 then slot_ms, slots = tonumber(ARGV[2]) / 60, 60 end
  found[i] = look(KEYS[i], slot_ms, slots, now, math.huge)
end
redis.call('ZREMRANGEBYSCORE', KEYS[#KEYS], '-inf', now)
found[#KEYS] = redis.call('ZCARD', KEYS[#KEYS])
return found
`;

/** Begins a ban by hand. KEYS: ban. ARGV: length in ms. */
export const BAN = `${PRELUDE}
local now = now_ms()
local untilms = now + tonumber(ARGV[1])
local ban = redis.call('GET', KEYS[1])
local level = 1
if ban and now - tonumber(string.match(ban, ':(%d+)$')) < 86400000 then level = tonumber(string.match(ban, '^(%d+)')) + 1 end
redis.call('SET', KEYS[1], string.format('%d:%d', level, untilms), 'PX', string.format('%d', untilms - now + 86400000))
return {level, untilms}
`;
