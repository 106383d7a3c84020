import { createHash } from 'node:crypto';
import { TOMBSTONE, VALUE } from './entries.js';

/** A script that Redis runs in one atomic step. In a Cluster it gets one key. */
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
 * Arguments: the bytes that an entry may have; an entry that counts as nothing, or ''; the lease to take if there is nothing, or ''; its
 * milliseconds. Returns the time, and, unless there is nothing, the entry and its remaining milliseconds. What is too long or no string
 * is an empty value.
 */
export const GET = script(`${NOW}
local entry = redis.pcall('GETRANGE', KEYS[1], 0, ARGV[1])
if type(entry) == 'table' or #entry > tonumber(ARGV[1]) then return {now, '${VALUE}', 0} end
if entry ~= '' and entry ~= ARGV[2] then return {now, entry, redis.call('PTTL', KEYS[1])} end
if ARGV[3] ~= '' then redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return {now}`);

/** Arguments: the value, its milliseconds. Returns whether it was set. */
export const SET = script(`
if ${IS_TOMBSTONE} then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** Deletes anything but a tombstone. Returns whether there was a value. */
export const DELETE = script(`
local kind = redis.pcall('GETRANGE', KEYS[1], 0, 0)
if kind == '${TOMBSTONE}' then return 0 end
redis.call('DEL', KEYS[1])
return kind == '${VALUE}' and 1 or 0`);

/** Argument: how the lease begins. Deletes it. */
export const RELEASE = script(`
if redis.pcall('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`);

/** Arguments: milliseconds, the earliest time to record. Records the time, and never an earlier one than before. Returns what it recorded. */
export const REVOKE = script(`${NOW}
local last = tonumber(redis.pcall('GET', KEYS[1])) or 0
now = math.max(now, last, tonumber(ARGV[2]))
redis.call('SET', KEYS[1], string.format('%.0f', now), 'PX', ARGV[1])
return now`);

/** Reads keys, of one slot in a Cluster. As a script, because a client that sends reads to replicas would get what these have not received yet. */
export const READ = script(`return redis.call('MGET', unpack(KEYS))`);
