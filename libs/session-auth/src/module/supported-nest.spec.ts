import { expect, it } from '@jest/globals';
import * as common from '@nestjs/common';
import { requireSupportedNest } from './supported-nest.js';

it('the library says on NestJS 10 which versions it needs, without a stack trace', () => {
  const { IntrinsicException, ...older } = common;
  expect(IntrinsicException).toBeInstanceOf(Function);
  const message = 'nestjs-session-auth needs NestJS 11 or 12. This application has NestJS 10 or older.';
  expect(() => requireSupportedNest(older)).toThrow(expect.objectContaining({ message, stack: message }));
});
