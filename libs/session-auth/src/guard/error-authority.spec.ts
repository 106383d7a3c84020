import { describe, expect, it } from '@jest/globals';
import { AccessDeniedError } from '../exceptions/session-exceptions.js';
import { authorityOfError, setErrorAuthority } from './denial.js';

describe('an error of a session service', () => {
  it('names the authority of the service, the last one if several had it, where no log shows it', () => {
    const error = new AccessDeniedError();
    expect(authorityOfError(error)).toBeUndefined();
    const fields = Object.keys(error);

    setErrorAuthority(error, 'staff');
    setErrorAuthority(error, 'agencies');

    expect(authorityOfError(error)).toBe('agencies');
    expect(Object.keys(error)).toEqual(fields);
    expect(authorityOfError(Object.assign({}, error))).toBeUndefined();
  });

  it('names the authority to every copy of this package', () => {
    const error = new AccessDeniedError();
    setErrorAuthority(error, 'staff');
    expect(Reflect.get(error, Symbol.for('nestjs-session-auth.error.authority'))).toBe('staff');
  });

  it.each([new Error('fault'), { name: 'AbortError' }, Object.freeze({}), 'text', null, undefined])(
    'is no other error, which stays as it is: %p',
    (error) => {
      expect(() => setErrorAuthority(error, 'staff')).not.toThrow();
      expect(authorityOfError(Object(error) as object)).toBeUndefined();
    },
  );
});
