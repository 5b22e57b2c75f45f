import { type LimitRules, SLOT_OF_NODE_MS } from '../../model/limit-store.js';

/** Sliding sums over slots; old slots are deleted. Timestamps are in milliseconds of the Redis clock. */
const SUMS = `
-- Returns the sum of the current slots of a hash, and the ms until it is at most 'allowed'.
local function look(key, slot_ms, slots, now, allowed)
  local all = redis.call('HGETALL', key)
  if #all == 0 then return 0, 0 end
  local first = math.floor(now / slot_ms) - slots
  local total, has_old = 0, false
  for i = 1, #all, 2 do
    if tonumber(all[i]) < first then has_old = true else total = total + all[i + 1] end
  end
  if has_old then
    for i = 1, #all, 2 do
      if tonumber(all[i]) < first then redis.call('HDEL', key, all[i]) end
    end
  end
  if total <= allowed then return total, 0 end
  local live = {}
  for i = 1, #all, 2 do
    local slot = tonumber(all[i])
    if slot >= first then live[#live + 1] = {slot, tonumber(all[i + 1])} end
  end
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
  -- The first amount of a slot extends the expiry of the hash.
  if redis.call('HINCRBY', key, field, amount) == amount then
    redis.call('PEXPIRE', key, math.ceil(slot_ms * (slots + 2)))
  end
end
`;

const PRELUDE = `${SUMS}
local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
`;

/**
 * Both scripts below contain the rules as text, because rules never change during the life of a
 * store and every argument costs time on both sides.
 * KEYS: primary, ban. The other keys of the identity differ from the ban key only in their last
 * part, so that they are in the same cluster slot.
 * ARGV starts with: limit (-1: none), window in seconds, cost, unreported refusals, units to
 * reserve.
 * Both return {used, reset}. A refusal adds its kind, the wait in ms, and level and end of a ban
 * that started.
 * Reserved units, or a ban caused by unreported refusals, add an empty kind, the ms until the
 * window ends, the ban, and the number of units.
 */
const BEGIN = `
local limit, window, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local rejected = tonumber(ARGV[4])
local t = redis.call('TIME')
local now_sec = tonumber(t[1])
local now = now_sec * 1000 + math.floor(t[2] / 1000)
local held = redis.call('MGET', KEYS[1], KEYS[2])
local used, reset, is_open = 0, now_sec + window, false
if held[1] and limit >= 0 then
  local left = redis.call('PTTL', KEYS[1])
  if left > 0 then
    is_open = true
    used = tonumber(held[1])
    reset = math.min(reset, math.floor((now + left) / 1000 + 0.5))
  end
end
local ban = held[2]
local kind, wait = '', 0
if ban then
  local untilms = tonumber(string.match(ban, ':(%d+)$'))
  if untilms > now then kind, wait = 'ban', untilms - now end
end
if kind == '' and limit >= 0 and cost > 0 and used + cost > limit then
  kind, wait = 'primary', reset * 1000 - now
end
`;

/**
 * Fast path for the usual admission with few commands. Any unusual state is reverted and decided by
 * the full script.
 * Redis 6 has no PEXPIRETIME, so it always runs the full script.
 */
const USUAL = `
if ARGV[4] == '0' and ARGV[5] == '0' and ARGV[3] ~= '0' and ARGV[1] ~= '-1' and redis.REDIS_VERSION_NUM then
  local used = redis.call('INCRBY', KEYS[1], ARGV[3])
  local reset_ms = redis.call('PEXPIRETIME', KEYS[1])
  if reset_ms > 0 and used <= tonumber(ARGV[1]) and redis.call('EXISTS', KEYS[2]) == 0 then
    return {used, math.floor(reset_ms / 1000 + 0.5)}
  end
  if reset_ms > 0 then redis.call('DECRBY', KEYS[1], ARGV[3]) else redis.call('DEL', KEYS[1]) end
end
`;

/** Counts refusals, starts a ban at the threshold, and returns a refusal. */
const refuse = (rules: LimitRules): string => `
local level, untilms = 0, 0
if kind ~= '' or rejected > 0 then
  local count = rejected
  if kind ~= '' and kind ~= 'ban' then count = count + 1 end
  if count > 0 and ${rules.isBanEnabled} then
    local key = string.sub(KEYS[2], 1, -4) .. 'rej'
    local total = redis.call('INCRBY', key, count)
    if total == count then redis.call('PEXPIRE', key, 600000) end
    if total >= ${rules.banThreshold} then
      redis.call('DEL', key)
      level = 1
      if ban then
        local last = tonumber(string.match(ban, ':(%d+)$'))
        if now - last < 86400000 then level = tonumber(string.match(ban, '^(%d+)')) + 1 end
      end
      untilms = now + math.min(86400000, ${rules.banMs} * 2 ^ (level - 1))
      local value = string.format('%d:%d', level, untilms)
      redis.call('SET', KEYS[2], value, 'PX', string.format('%d', untilms - now + 86400000))
    end
  end
  if kind ~= '' then return {used, reset, kind, wait, level, untilms} end
end
`;

/**
 * Reservations leave a fifth of every limit, so that units idle on one node do not block the
 * others.
 */
const CHARGE = `
local reserveCount = tonumber(ARGV[5])
if limit >= 0 and cost > 0 then
  reserveCount = math.max(0, math.min(reserveCount, math.floor(limit * 0.8) - used - cost))
  if is_open then
    used = redis.call('INCRBY', KEYS[1], cost + reserveCount)
  else
    used = cost + reserveCount
    redis.call('SET', KEYS[1], used, 'PX', string.format('%d', reset * 1000 - now))
  end
end
`;

const ADMITTED = `
if reserveCount > 0 or level > 0 then return {used, reset, '', reset * 1000 - now, level, untilms, reserveCount} end
return {used, reset}
`;

/**
 * The primary limit only, for several callers in order; KEYS and ARGV of each as above. The result of a request that
 * fails, because its key has another type, is an error.
 */
export const admitPrimary = (rules: LimitRules): string => `
local function decide(KEYS, ARGV)
${USUAL}${BEGIN}${refuse(rules)}${CHARGE}${ADMITTED}
end
local results = {}
for i = 1, #KEYS / 2 do
  local _, result = pcall(decide, {KEYS[2 * i - 1], KEYS[2 * i]}, {unpack(ARGV, 5 * i - 4, 5 * i)})
  if type(result) == 'string' then result = redis.error_reply(result) end
  results[i] = result
end
return results
`;

/**
 * Checks every limit and charges all or nothing. KEYS and ARGV as above, then KEYS: points of the
 * endpoint.
 * ARGV: 1 for a dry run, slot to take or empty, points, 1 for a graph query, 1 if CPU time counts,
 * number of content creations or -1 for a token, content limit of this endpoint (-1: default), weight.
 */
export const admitAll = (rules: LimitRules): string => `${SUMS}${BEGIN}
local base = string.sub(KEYS[2], 1, -4)
local slot, points, is_graph = ARGV[7], tonumber(ARGV[8]), ARGV[9] == '1'
local content, own_max, heavy = tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local is_content, is_token = content > 0, content < 0
local minute, hour = ${rules.minuteMs / 6}, ${rules.hourMs / 60}
local own_key = base .. 'cme' .. string.sub(KEYS[3], #base + 2)

local function check(name, key, length, slots, max)
  if kind ~= '' then return end
  local total, later = look(key, length, slots, now, max)
  -- A request that never fits gets the full window as its retry time.
  if total > max then kind, wait = name, max < 0 and length * slots or later end
end
if kind == '' and slot ~= '' and redis.call('ZCARD', base .. 'c') >= ${rules.concurrency} then
  redis.call('ZREMRANGEBYSCORE', base .. 'c', '-inf', now)
  if redis.call('ZCARD', base .. 'c') >= ${rules.concurrency} then kind, wait = 'concurrency', -1 end
end
if points > 0 then
  if is_graph then check('points_graph', KEYS[3], minute, 6, ${rules.pointsGraph} - points)
  else check('points_rest', KEYS[3], minute, 6, ${rules.pointsRest} - points) end
end
if ARGV[10] == '1' then
  check('cpu', base .. 'cpu', minute, 6, ${rules.cpuMs - 1})
  if is_graph then check('cpu_graph', base .. 'cpug', minute, 6, ${rules.cpuGraphMs - 1}) end
end
if is_content then
  check('content_minute', base .. 'cm', minute, 6, ${rules.contentMinute} - content)
  if own_max >= 0 then check('content_minute', own_key, minute, 6, own_max - content) end
  check('content_hour', base .. 'ch', hour, 60, ${rules.contentHour} - content)
end
if is_token then check('token_creation', base .. 'th', hour, 60, ${rules.tokenHour - 1}) end
if heavy > 0 then check('heavy', base .. 'h', minute, 6, ${rules.heavy} - heavy) end
if ARGV[6] == '1' then return {used, reset, kind, wait, 0, 0} end
${refuse(rules)}${CHARGE}
if points > 0 then add(KEYS[3], minute, 6, now, points) end
if is_content then
  add(base .. 'cm', minute, 6, now, 1)
  if own_max >= 0 then add(own_key, minute, 6, now, 1) end
  add(base .. 'ch', hour, 60, now, 1)
end
if is_token then add(base .. 'th', hour, 60, now, 1) end
if heavy > 0 then add(base .. 'h', minute, 6, now, heavy) end
if slot ~= '' then
  redis.call('ZADD', base .. 'c', now + ${SLOT_OF_NODE_MS}, slot)
  redis.call('PEXPIRE', base .. 'c', ${SLOT_OF_NODE_MS})
end
${ADMITTED}`;

/** Heartbeat for slots of running requests. KEYS: slots. ARGV: their names. */
export const HOLD_SLOTS = `${PRELUDE}
local untilms = now_ms() + ${SLOT_OF_NODE_MS}
for i = 1, #ARGV do redis.call('ZADD', KEYS[1], untilms, ARGV[i]) end
return redis.call('PEXPIRE', KEYS[1], ${SLOT_OF_NODE_MS})
`;

/**
 * Settles charges after the admission; each part is optional. KEYS: primary, slots, CPU, CPU of
 * graph queries.
 * ARGV: cost to refund, reset of its window, slot to release, CPU ms, 1 for a graph query, minute
 * in ms.
 */
export const SETTLE = `${PRELUDE}
local now = now_ms()
local cost = tonumber(ARGV[1])
if cost > 0 then
  local left = redis.call('PTTL', KEYS[1])
  -- A window opened later was not charged for this request.
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

/** Usage and reset of each primary bucket in KEYS, flat; 0 and 0 without an open window. */
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

/** Sums of the hashes in KEYS (the last one per hour), then the number of used slots. */
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

/**
 * Counts a wrong credential and returns the count of its window. KEYS: logins. ARGV: window in ms.
 */
export const LOGINS = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count
`;

/**
 * Sends a node's heartbeat and counts the live nodes, using the Redis clock because node clocks may
 * differ.
 * KEYS: nodes. ARGV: name of the node, its lifetime in ms.
 */
export const NODES = `${PRELUDE}
local now = now_ms()
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`;

/** Level and end (epoch ms) of a current ban; empty if there is none. KEYS: ban. */
export const BAN_OF = `${PRELUDE}
local level, untilms = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+):(%d+)$')
local left = level and untilms - now_ms() or 0
if left <= 0 then return {} end
return {tonumber(level), tonumber(untilms)}
`;

/** Identities whose bans end last. KEYS: bans. ARGV: maximum count. */
export const BANS = `${PRELUDE}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_ms())
return redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] - 1)
`;

/** Starts a manual ban. KEYS: ban. ARGV: duration in ms. */
export const BAN = `${PRELUDE}
local now = now_ms()
local untilms = now + tonumber(ARGV[1])
local ban = redis.call('GET', KEYS[1])
local level = 1
if ban and now - tonumber(string.match(ban, ':(%d+)$')) < 86400000 then level = tonumber(string.match(ban, '^(%d+)')) + 1 end
redis.call('SET', KEYS[1], string.format('%d:%d', level, untilms), 'PX', string.format('%d', untilms - now + 86400000))
return {level, untilms}
`;
