-- May this call run? All that it is counted under, or none of it.
-- KEYS: one for each limit; then, with a lease, that of the places.
-- ARGV: the call's id; how many limits; calls and window (microseconds) of each; with a lease, whose it is, how many places there
-- are and how long one is kept (microseconds).
-- Answers {0, 0}, or the number of the limit that is reached and how many calls it counts; with no place free, {-1, places}.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local id, limits = ARGV[1], tonumber(ARGV[2])
for i = 1, limits do
  local calls, window = tonumber(ARGV[1 + 2 * i]), tonumber(ARGV[2 + 2 * i])
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now - window)
  -- Asked again because its answer was lost: it is counted already.
  if not redis.call('ZSCORE', KEYS[i], id) then
    local counted = redis.call('ZCARD', KEYS[i])
    if counted >= calls then return {i, counted} end
  end
end
local place = KEYS[limits + 1]
local first = 2 * limits + 3
if place then
  redis.call('ZREMRANGEBYSCORE', place, '-inf', now)
  local taken = redis.call('ZCARD', place)
  if not redis.call('ZSCORE', place, ARGV[first]) then
    if taken >= tonumber(ARGV[first + 1]) then return {-1, taken} end
    local kept = tonumber(ARGV[first + 2])
    redis.call('ZADD', place, now + kept, ARGV[first])
    -- It goes with the last of them.
    local rest = math.ceil(kept / 1000) + 1000
    if redis.call('PTTL', place) < rest then redis.call('PEXPIRE', place, rest) end
  end
end
for i = 1, limits do
  redis.call('ZADD', KEYS[i], 'NX', now, id)
  redis.call('PEXPIRE', KEYS[i], math.ceil(tonumber(ARGV[2 + 2 * i]) / 1000) + 1000)
end
return {0, 0}
