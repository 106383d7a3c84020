import { describe, expect, it } from '@jest/globals';
import { AccessDeniedError } from '../exceptions/session-exceptions.js';
import { authorityOf, nameAuthority } from './error-authority.js';

describe('an error of a session service', () => {
  it('names the registration of the service, the last one if several had it, where no log shows it', () => {
    const error = new AccessDeniedError();
    expect(authorityOf(error)).toBeUndefined();
    const fields = Object.keys(error);

    nameAuthority(error, 'staff');
    nameAuthority(error, 'agencies');

    expect(authorityOf(error)).toBe('agencies');
    expect(Object.keys(error)).toEqual(fields);
    expect(authorityOf(Object.assign({}, error))).toBeUndefined();
  });

  it('names the registration to every copy of this package', () => {
    const error = new AccessDeniedError();
    nameAuthority(error, 'staff');
    expect(Reflect.get(error, Symbol.for('nestjs-session-auth.error.authority'))).toBe('staff');
  });

  it.each([new Error('fault'), { name: 'AbortError' }, Object.freeze({}), 'text', null, undefined])(
    'is no other error, which stays as it is: %p',
    (error) => {
      expect(() => nameAuthority(error, 'staff')).not.toThrow();
      expect(authorityOf(Object(error) as object)).toBeUndefined();
    },
  );
});
