import { createHash } from 'node:crypto';

/** A Lua script, which Redis runs atomically. In a Cluster, it takes one key. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** The first byte of an entry. The bytes of a value follow it. */
export const VALUE = 'V';
export const TOMBSTONE = 'E';
/** Maximum bytes of an entry: a sealed record of 64 KiB, and a margin. */
const MAX_ENTRY_BYTES = 131_072;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** Of a key that holds no string, `pcall` returns the error instead of raising it: it has no kind. */
const KIND = `
local kind = redis.pcall('GETRANGE', KEYS[1], 0, 0)`;

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Returns the time and, if there is an entry, its bytes and its remaining milliseconds. What is too long for
 * an entry, or not a string, is none.
 */
export const GET = script(`${NOW}
local entry = redis.pcall('GETRANGE', KEYS[1], 0, ${MAX_ENTRY_BYTES})
if type(entry) == 'table' or entry == '' or #entry > ${MAX_ENTRY_BYTES} then return {now} end
return {now, entry, redis.call('PTTL', KEYS[1])}`);

/** Arguments: the entry of a value, milliseconds until it expires. Returns 0 if there is a tombstone. */
export const SET = script(`${KIND}
if kind == '${TOMBSTONE}' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** Returns 1 if there was a value. */
export const DELETE = script(`${KIND}
if kind == '${TOMBSTONE}' then return 0 end
redis.call('DEL', KEYS[1])
return kind == '${VALUE}' and 1 or 0`);

/** Arguments: milliseconds until the record expires, the earliest time to record. Returns the recorded time. */
export const REVOKE = script(`${NOW}
local last = tonumber(redis.pcall('GET', KEYS[1])) or 0
now = math.max(now, last, tonumber(ARGV[2]))
redis.call('SET', KEYS[1], string.format('%.0f', now), 'PX', ARGV[1])
return now`);

/**
 * Reads keys, in a Cluster of one slot. A script, because a client may send plain reads to replicas, which
 * can lag behind.
 */
export const READ = script(`return redis.call('MGET', unpack(KEYS))`);
