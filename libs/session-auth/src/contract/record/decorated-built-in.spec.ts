import { expect, it } from '@jest/globals';
import { IsEmail } from 'class-validator';
import { hasOwnDecorators } from './built-in-reader.js';
import { compileRecordReader } from './record-reader.js';
import { UserRecord } from './user-record.js';

// Before the first use of the class, which reads its decorators.
IsEmail()(UserRecord.prototype, 'email');

it('a decorator that an application adds to the built-in class applies', () => {
  const read = compileRecordReader(UserRecord);
  expect(hasOwnDecorators(UserRecord)).toBe(false);
  expect(read({ email: 'ann@example.com' })).toBeDefined();
  expect(read({ email: 'ann' })).toBeUndefined();
});
