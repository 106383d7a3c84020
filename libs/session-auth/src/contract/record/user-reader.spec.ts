import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { internCommonValues, prepareUserReader } from './user-reader.js';
import { CclInfo } from './user-record.js';

const id = fc.option(fc.integer({ min: -1, max: 3 }), { nil: null });
const text = fc.constantFrom('', 'a', '1', 'hm', null);
const readerWith = (share?: ReturnType<typeof internCommonValues>) => prepareUserReader(share).read;
const record = fc.record(
  {
    username: fc.constantFrom('ann', 'bo'),
    last_name: text,
    role: text,
    client_name: text,
    ccl_info: fc.option(fc.record({ client_id: id, company_id: id, location_id: id }, { requiredKeys: [] })),
  },
  { requiredKeys: ['username'] },
);

describe('records that share values', () => {
  it('are equal to records that do not', () => {
    const sharing = readerWith(internCommonValues());
    const alone = readerWith();
    fc.assert(
      fc.property(record, (json) => expect(sharing(json)).toEqual(alone(json))),
      { numRuns: 2_000 },
    );
  });

  it('never have the ids of another user, also if those differ in their last digit only [P55]', () => {
    const large = fc.integer({ min: 10 ** 15, max: Number.MAX_SAFE_INTEGER - 9 });
    const three = fc.record({ client_id: large, company_id: large, location_id: large });
    const name = fc.constantFrom('client_id' as const, 'company_id' as const, 'location_id' as const);
    const others = fc.integer({ min: 1, max: 9 });
    fc.assert(
      fc.property(three, name, others, (ids, field, difference) => {
        const read = readerWith(internCommonValues());
        for (const each of [ids, { ...ids, [field]: ids[field] + difference }])
          expect(read({ username: 'x', ccl_info: each })?.ccl_info).toEqual(each);
      }),
      { numRuns: 300 },
    );
  });

  it('have one frozen ccl_info for all users with the same ids', () => {
    const read = readerWith(internCommonValues());
    const infoOf = (ids: object): unknown => read({ username: 'x', ccl_info: ids })?.ccl_info;
    const info = infoOf({ client_id: 1 });
    expect([infoOf({ client_id: 1 }), infoOf({ company_id: 1 })].map((other) => other === info)).toEqual([
      true,
      false,
    ]);
    expect(Object.isFrozen(info)).toBe(true);
  });

  it('share at most a thousand values of a field, and continue to share those', () => {
    const read = readerWith(internCommonValues());
    const infoOf = (id: number): unknown => read({ username: 'x', ccl_info: { client_id: id } })?.ccl_info;
    const infos = Array.from({ length: 1_001 }, (_, id) => infoOf(id));
    expect(infoOf(999)).toBe(infos[999]);
    expect(infoOf(0)).toBe(infos[0]);
    expect(infoOf(1_000)).not.toBe(infos[1_000]);
    expect(infoOf(1_000)).toEqual(infos[1_000]);
  });

  it('keep a ccl_info of a class of the application', () => {
    class OwnCclInfo extends CclInfo {}
    const share = internCommonValues();
    const [ann, bo] = [{ ccl_info: new CclInfo() }, { ccl_info: new OwnCclInfo() }];
    share(ann);
    share(bo);
    expect(bo.ccl_info).toBeInstanceOf(OwnCclInfo);
  });
});
