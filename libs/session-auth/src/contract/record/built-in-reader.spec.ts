import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { hasOwnDecorators, readBuiltIn } from './built-in-reader.js';
import { compileRecordReader } from './record-reader.js';
import { CclInfo, UserRecord } from './user-record.js';

/** Has the fields of the built-in class, but not its reader. */
class OwnRecord extends UserRecord {}

const scalar = fc.constantFrom<unknown>(null, undefined, '', 'a', 0, 1.5, 2 ** 53, true, [], {}, Number.NaN);
const id = fc.oneof({ weight: 9, arbitrary: fc.integer() }, scalar);
const cclInfo = fc.record({ client_id: id, company_id: id, location_id: id, other: scalar }, { requiredKeys: [] });
const mostly = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary }, { weight: 1, arbitrary: scalar });
const fields = Object.fromEntries(
  [...Object.keys(new UserRecord()), 'auth_token'].map((name) => [
    name,
    mostly(name === 'ccl_info' ? cclInfo : /_(?:enabled|checkbox)$/.test(name) ? fc.boolean() : fc.string({ maxLength: 3 })),
  ]),
);

afterEach(() => {
  for (const name of ['role', 'client_id']) Reflect.deleteProperty(Object.prototype, name);
});

describe('the reader of the built-in class', () => {
  it('reads the same record as the compiled reader, and rejects the same JSON', () => {
    const [read, readCompiled] = [compileRecordReader(UserRecord), compileRecordReader(OwnRecord)];
    const seen = { accepted: 0, rejected: 0 };
    fc.assert(
      fc.property(fc.record(fields, { requiredKeys: [] }), (json) => {
        const [user, compiled] = [read(json), readCompiled(json)];
        seen[user ? 'accepted' : 'rejected'] += 1;
        expect([Object.entries(user ?? {}), user?.auth_token, user?.ccl_info instanceof CclInfo]).toStrictEqual([
          Object.entries(compiled ?? {}),
          compiled?.auth_token,
          compiled?.ccl_info instanceof CclInfo,
        ]);
        expect(Object.keys(user ?? {})).toEqual(Object.keys(compiled ?? {}));
        expect([Object.isFrozen(user), Object.isFrozen(user?.ccl_info)]).toEqual([true, true]);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.accepted, seen.rejected)).toBeGreaterThan(200);
  });

  it.each([
    ['role', {}],
    ['client_id', { ccl_info: {} }],
  ])('reads no %s that objects inherit', (name, json) => {
    Object.defineProperty(Object.prototype, name, { value: 7, configurable: true, writable: true });
    expect(readBuiltIn(json as UserRecord, UserRecord)).toBeUndefined();
    expect(JSON.stringify(compileRecordReader(UserRecord)(json))).toBe(JSON.stringify(json));
  });

  it('is used for the built-in class alone', () => {
    expect([UserRecord, OwnRecord].map((record) => hasOwnDecorators(record))).toEqual([true, false]);
  });
});
