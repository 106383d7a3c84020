import { createHash } from 'node:crypto';

/** First byte of what stands under a key. */
export const CLAIM = 'C';
export const END = 'E';
export const VALUE = 'V';

/** A script that Redis runs in one step, on one key, so that it runs in a cluster too. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

/** Arguments: milliseconds of a claim or 0, bytes that a value may have. What is too long, or no string, is read as an empty value. */
export const TAKE = script(`
local length = redis.pcall('STRLEN', KEYS[1])
if length == 0 then
  if ARGV[1] ~= '0' then redis.call('SET', KEYS[1], '${CLAIM}', 'PX', ARGV[1]) end
  return false
end
if type(length) == 'table' or length > tonumber(ARGV[2]) then return {'${VALUE}', 0} end
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}`);

/** Arguments: the value, its milliseconds. Gives whether it was kept. */
export const KEEP = script(`
if redis.pcall('GETRANGE', KEYS[1], 0, 0) == '${END}' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`);

/** Deletes a claim. */
export const RELEASE = script(`
if redis.pcall('GETRANGE', KEYS[1], 0, 0) ~= '${CLAIM}' then return 0 end
return redis.call('DEL', KEYS[1])`);

/** Deletes anything but an end. */
export const DROP = script(`
if redis.pcall('GETRANGE', KEYS[1], 0, 0) == '${END}' then return 0 end
return redis.call('DEL', KEYS[1])`);
