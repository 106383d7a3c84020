import { describe, expect, it } from '@jest/globals';
import { withoutStack } from './denial.js';

describe('an error built without a stack', () => {
  it('has no stack trace, and errors built after it have one', () => {
    const limit = Error.stackTraceLimit;
    expect(withoutStack(() => new Error('refused')).stack).toBe('Error: refused');
    expect(Error.stackTraceLimit).toBe(limit);
    expect(new Error('fault').stack).toContain('\n    at ');
  });

  it('does not affect the stack traces of other errors if building it throws', () => {
    const limit = Error.stackTraceLimit;
    const failure = new Error('fault');
    const build = (): Error => {
      throw failure;
    };
    expect(() => withoutStack(build)).toThrow(failure);
    expect(Error.stackTraceLimit).toBe(limit);
  });
});
