import { describe, expect, it } from '@jest/globals';
import { validateSync } from 'class-validator';
import { prepareUserReader } from './user-reader.js';
import { CclInfo, type UserRecord } from './user-record.js';

const { read } = prepareUserReader();

const TEXTS = [
  'username',
  'first_name',
  'last_name',
  'email',
  'role',
  'sub_role',
  'auth_token',
  'preffered_language',
  'client_name',
  'display_label',
] as const;
const FLAGS = ['help_checkbox', 'benestream_enabled', 'ats_enabled', 'obs_enabled'] as const;
const IDS = ['client_id', 'company_id', 'location_id'] as const;

describe('the field', () => {
  it.each<[field: keyof UserRecord, right: unknown, wrong: unknown[]]>([
    ...TEXTS.map((name): [keyof UserRecord, unknown, unknown[]] => [name, 'text', [1, true, {}, ['text']]]),
    ...FLAGS.map((name): [keyof UserRecord, unknown, unknown[]] => [name, false, ['false', 0, {}, [true]]]),
    ['ccl_info', { client_id: 1 }, ['text', 1, true, [], [{ client_id: 1 }]]],
  ])('%s is a %j, null or absent, and none of %j', (field, right, wrong) => {
    expect(read({ [field]: right })?.[field]).toEqual(right);
    expect(read({ [field]: null })?.[field]).toBeUndefined();
    expect(read({})).toBeDefined();
    expect(read({})?.[field]).toBeUndefined();
    expect(wrong.map((value) => read({ [field]: value }))).toEqual(wrong.map(() => undefined));
  });

  it.each(IDS)('ccl_info.%s is a whole number, null or absent', (id) => {
    expect(read({ ccl_info: { [id]: 7 } })?.ccl_info?.[id]).toBe(7);
    expect(read({ ccl_info: { [id]: null } })?.ccl_info?.[id]).toBeUndefined();
    expect(read({ ccl_info: {} })).toBeDefined();
    expect(['7', 1.5, 2 ** 53, true, {}, [7]].map((value) => read({ ccl_info: { [id]: value } }))).toEqual(
      Array(6).fill(undefined),
    );
  });

  it('ccl_info.client_id has an error of its own if an application validates it', () => {
    const info = Object.assign(new CclInfo(), { client_id: 1.5 });
    expect(validateSync(info).map(({ constraints }) => constraints)).toEqual([
      { isSafeInteger: 'client_id must be a safe integer' },
    ]);
  });
});

describe('a record', () => {
  it('reads no field from the prototype of the response', () => {
    const user = read(Object.create({ role: 'admin', auth_token: 'token' }) as object);
    expect([user?.role, user?.auth_token]).toEqual([undefined, undefined]);
  });

  it('has no token on its prototype', () => {
    const user = read({ auth_token: 'token' });
    expect((Object.getPrototypeOf(user) as UserRecord).auth_token).toBeUndefined();
    expect(user?.auth_token).toBe('token');
  });
});
