import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { areOwnFields, hasOwnDecorators, readBuiltIn } from './built-in-reader.js';
import { fieldsOf } from './field-descriptions.js';
import { compileRecordReader } from './record-reader.js';
import { CclInfo, UserRecord } from './user-record.js';

/** Has the fields of the built-in class, but not its reader. */
class OwnRecord extends UserRecord {}

const scalar = fc.constantFrom<unknown>(null, undefined, '', 'a', 0, 1.5, 2 ** 53, true, [], {}, Number.NaN);
const id = fc.oneof({ weight: 9, arbitrary: fc.integer() }, scalar);
const cclInfo = fc.record(
  { client_id: id, company_id: id, location_id: id, other: scalar },
  { requiredKeys: [] },
);
const mostly = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary }, { weight: 1, arbitrary: scalar });
const FIELDS = Object.keys(new UserRecord());
const IDS = Object.keys(new CclInfo());
const isFlag = (name: string): boolean => /_(?:enabled|checkbox)$/.test(name);
const withoutToken = Object.fromEntries(
  FIELDS.map((name) => [
    name,
    mostly(name === 'ccl_info' ? cclInfo : isFlag(name) ? fc.boolean() : fc.string({ maxLength: 3 })),
  ]),
);
const fields = { ...withoutToken, auth_token: mostly(fc.string({ maxLength: 3 })) };

/** A value that the field accepts. */
const valueOf = (name: string): unknown =>
  name === 'ccl_info' ? { client_id: 7 } : IDS.includes(name) ? 7 : isFlag(name) ? true : 'admin';

afterEach(() => {
  for (const name of [...FIELDS, ...IDS]) Reflect.deleteProperty(Object.prototype, name);
});

describe('the reader of the built-in class', () => {
  it('reads the same record as the compiled reader, and rejects the same JSON', () => {
    const [read, readCompiled] = [compileRecordReader(UserRecord), compileRecordReader(OwnRecord)];
    const seen = { accepted: 0, rejected: 0 };
    fc.assert(
      fc.property(fc.record(fields, { requiredKeys: [] }), (json) => {
        const [user, compiled] = [read(json), readCompiled(json)];
        seen[user ? 'accepted' : 'rejected'] += 1;
        expect([
          Object.entries(user ?? {}),
          user?.auth_token,
          user?.ccl_info instanceof CclInfo,
        ]).toStrictEqual([
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

  it('reads all records that the compiled reader accepts, so that few checks need that', () => {
    const readCompiled = compileRecordReader(OwnRecord);
    fc.assert(
      fc.property(fc.record(withoutToken, { requiredKeys: [] }), (generated) => {
        const json = JSON.parse(JSON.stringify(generated)) as object;
        expect(readBuiltIn(json as UserRecord, UserRecord) !== undefined).toBe(
          readCompiled(json) !== undefined,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([...FIELDS, ...IDS])('reads no %s that objects inherit', (name) => {
    for (const json of [{}, { ccl_info: {} }]) {
      Object.defineProperty(Object.prototype, name, {
        value: valueOf(name),
        configurable: true,
        writable: true,
      });
      expect(readBuiltIn(json as UserRecord, UserRecord)).toBeUndefined();
      expect(JSON.stringify(compileRecordReader(UserRecord)(json))).toBe(JSON.stringify(json));
    }
  });

  it('leaves JSON whose ccl_info has another prototype than parsed JSON', () => {
    const json = { ccl_info: Object.create({ client_id: 7 }) as object };
    expect(readBuiltIn(json as UserRecord, UserRecord)).toBeUndefined();
    expect(JSON.stringify(compileRecordReader(UserRecord)(json))).toBe('{"ccl_info":{}}');
  });

  it('is used for the built-in class alone', () => {
    expect([UserRecord, OwnRecord].map((record) => hasOwnDecorators(record))).toEqual([true, false]);
  });

  it('is used with the decorators of this package alone', () => {
    const [fields, ids] = [fieldsOf(UserRecord), fieldsOf(CclInfo)];
    const [field, ...others] = fields as [(typeof fields)[0]];
    const [check] = field.checks;
    expect(areOwnFields(fields, ids)).toBe(true);
    expect(areOwnFields([...fields, field], ids)).toBe(false);
    expect(areOwnFields(fields, [...ids, field])).toBe(false);
    expect(areOwnFields([{ ...field, checks: [...field.checks, check as never] }, ...others], ids)).toBe(
      false,
    );
    expect(areOwnFields([{ ...field, conditions: [...field.conditions, () => true] }, ...others], ids)).toBe(
      false,
    );
    expect(areOwnFields(fields, [...ids.slice(1), { ...field, conditions: [] }])).toBe(false);
  });
});
