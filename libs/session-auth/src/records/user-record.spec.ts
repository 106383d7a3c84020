import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { prepareUserReader } from '../contract/record/user-reader.js';
import { CclInfo, UserRecord } from '../contract/record/user-record.js';
import { prepareReader } from './record-class.js';

type Complaint = readonly [field: string, requirement: string];

/** Reads a record from the table of the core, and by the decorators of the class. */
const complaints = { ofTable: [] as Complaint[], ofDecorators: [] as Complaint[] };
const [table, described] = [prepareUserReader(), prepareReader(UserRecord)()];
const read: typeof table.read = (json) =>
  table.read(json, (...complaint) => complaints.ofTable.push(complaint));
const readDescribed: typeof table.read = (json) =>
  described.read(json, (...complaint) => complaints.ofDecorators.push(complaint));

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

describe('the reader of UserRecord', () => {
  it('reads the same record as its decorators describe, and rejects the same JSON', () => {
    const seen = { accepted: 0, rejected: 0 };
    fc.assert(
      fc.property(fc.record(fields, { requiredKeys: [] }), (json) => {
        Object.assign(complaints, { ofTable: [], ofDecorators: [] });
        const [user, described] = [read(json), readDescribed(json)];
        seen[user ? 'accepted' : 'rejected'] += 1;
        expect([
          Object.entries(user ?? {}),
          user?.auth_token,
          user?.ccl_info instanceof CclInfo,
        ]).toStrictEqual([
          Object.entries(described ?? {}),
          described?.auth_token,
          described?.ccl_info instanceof CclInfo,
        ]);
        expect(Object.keys(user ?? {})).toEqual(Object.keys(described ?? {}));
        expect([Object.isFrozen(user), Object.isFrozen(user?.ccl_info)]).toEqual([true, true]);
        expect(complaints.ofTable).toHaveLength(user ? 0 : 1);
        expect(complaints.ofDecorators).toHaveLength(user ? 0 : 1);
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.accepted, seen.rejected)).toBeGreaterThan(200);
  });

  it.each([
    ...[...FIELDS, 'auth_token'].map((name): [string, object] => [name, { [name]: 7 }]),
    ...IDS.map((name): [string, object] => [`ccl_info.${name}`, { ccl_info: { [name]: 'secret' } }]),
  ])('reports an invalid %s as its decorators do', (field, json) => {
    Object.assign(complaints, { ofTable: [], ofDecorators: [] });
    expect([read(json), readDescribed(json)]).toEqual([undefined, undefined]);
    expect(complaints.ofTable).toEqual([[field, expect.stringMatching(`^${field} must be an? `)]]);
    expect(complaints.ofDecorators.map(([name]) => name)).toEqual([field]);
  });

  it.each([...FIELDS, ...IDS])('reads no %s that objects inherit', (name) => {
    for (const json of [{}, { ccl_info: {} }]) {
      Object.defineProperty(Object.prototype, name, {
        value: valueOf(name),
        configurable: true,
        writable: true,
      });
      expect(JSON.stringify(read(json))).toBe(JSON.stringify(json));
    }
  });

  it('reads no id that ccl_info inherits', () => {
    const json = { ccl_info: Object.create({ client_id: 7 }) as object };
    expect(JSON.stringify(read(json))).toBe('{"ccl_info":{}}');
  });
});
