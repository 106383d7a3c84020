import { describe, expect, it } from '@jest/globals';
import { AUTHORITY_NAME_FORM, DEFAULT_AUTHORITY, isAuthorityName } from './authority-name.js';

describe('the name of an authority', () => {
  it.each(['default', 'a', '7', 'A.b-c_9', 'x'.repeat(64)])('may be %j', (name) => {
    expect(isAuthorityName(name)).toBe(true);
  });

  it.each([
    ...['', '.a', '-a', '_a', ' a', 'a b', 'a/b', 'a:b', 'a\n', 'é', 'x'.repeat(65)],
    undefined,
    7,
    ['a'],
    { toString: () => 'a' },
  ])('may not be %j', (name) => {
    expect(isAuthorityName(name)).toBe(false);
  });

  it('is "default" for the default authority', () => {
    expect(DEFAULT_AUTHORITY).toBe('default');
  });

  it('has a form that messages describe', () => {
    expect(AUTHORITY_NAME_FORM).toMatch(/^1 to 64 letters, digits, dots, hyphens and underscores/);
  });
});
