import { createHash } from 'node:crypto';
import { TOMBSTONE, VALUE } from './entries.js';

/** A Lua script, which Redis runs atomically. In a Cluster, it takes one key. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

const IS_TOMBSTONE = `redis.pcall('GETRANGE', KEYS[1], 0, 0) == '${TOMBSTONE}'`;

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/**
 * Arguments: the maximum length of an entry in bytes; the bytes of an ended lease, which counts as no entry,
 * or ''; the lease to take if there is no entry, or ''; its milliseconds. Returns the time and, if there is
 * an entry, its bytes and its remaining milliseconds. An entry that is too long or not a string is returned
 * as an empty value.
 */
export const GET = script(`${NOW}
local entry = redis.pcall('GETRANGE', KEYS[1], 0, ARGV[1])
if type(entry) == 'table' or #entry > tonumber(ARGV[1]) then return {now, '${VALUE}', 0} end
if entry ~= '' and entry ~= ARGV[2] then return {now, entry, redis.call('PTTL', KEYS[1])} end
if ARGV[3] ~= '' then redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return {now}`);

export const SET = script(`
if ${IS_TOMBSTONE} then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

export const DELETE = script(`
local kind = redis.pcall('GETRANGE', KEYS[1], 0, 0)
if kind == '${TOMBSTONE}' then return 0 end
redis.call('DEL', KEYS[1])
return kind == '${VALUE}' and 1 or 0`);

/** Deletes a lease. Argument: its prefix, which contains its id. */
export const RELEASE = script(`
if redis.pcall('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`);

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
