import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileRecordReader } from './record-reader.js';
import { sharingValues } from './shared-values.js';
import { UserRecord } from './user-record.js';

const id = fc.option(fc.integer({ min: -1, max: 3 }), { nil: null });
const text = fc.constantFrom('', 'a', '1', 'hm', null);
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
  it('say the same as records that do not', () => {
    const sharing = compileRecordReader(UserRecord, sharingValues());
    const alone = compileRecordReader(UserRecord);
    fc.assert(
      fc.property(record, (json) => expect(sharing(json)).toEqual(alone(json))),
      { numRuns: 2_000 },
    );
  });

  it('hold one frozen ccl_info for all who have the same ids', () => {
    const read = compileRecordReader(UserRecord, sharingValues());
    const [ann, bo, cleo] = [{ client_id: 1 }, { client_id: 1 }, { company_id: 1 }].map((ids) => read({ username: 'x', ccl_info: ids }));
    expect(ann?.ccl_info).toBe(bo?.ccl_info);
    expect(cleo?.ccl_info).not.toBe(bo?.ccl_info);
    expect(Object.isFrozen(ann?.ccl_info)).toBe(true);
  });
});
