import { describe, expect, it } from '@jest/globals';
import * as common from '@nestjs/common';
import { requireSupportedNest } from './supported-nest.js';

describe('the library', () => {
  it('says on NestJS 10 which versions it needs, without a stack trace', () => {
    const { IntrinsicException, ...older } = common;
    expect(IntrinsicException).toBeInstanceOf(Function);
    const message = 'nestjs-session-auth needs NestJS 11 or 12. This application has NestJS 10 or older.';
    expect(() => requireSupportedNest(older)).toThrow(expect.objectContaining({ message, stack: message }));
  });

  it('loads on this NestJS', () => {
    expect(() => requireSupportedNest(common)).not.toThrow();
  });
});
