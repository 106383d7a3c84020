import { expect, it } from '@jest/globals';
import { IsEmail } from 'class-validator';
import { prepareUserReader } from '../../contract/record/user-reader.js';
import { UserRecord } from '../../contract/record/user-record.js';
import { readerFor } from './record-reader.js';

it('a decorator that an application adds to UserRecord applies', async () => {
  expect(await readerFor(UserRecord)).toBe(prepareUserReader);
  IsEmail()(UserRecord.prototype, 'email');

  const prepare = await readerFor(UserRecord);
  const read = prepare?.(() => undefined).read;
  expect(read?.({ email: 'ann@example.com' })).toBeDefined();
  expect(read?.({ email: 'ann' })).toBeUndefined();
});
