import { describe, expect, it } from '@jest/globals';
import { admissionOf } from '../../../../test/support/session-parts.js';
import { SessionRejectedError } from '../exceptions/session-exceptions.js';
import { currentCall, runInCall } from './current-call.js';
import { SessionContext } from './session-context.js';

const ADMISSION = admissionOf({
  authority: 'staff',
  user: { username: 'ann' },
  session: { token: 'token', authIv: 'iv' },
});

describe('the session of the current call', () => {
  const context = new SessionContext(currentCall);

  it('is that of its admission', () => {
    runInCall({ admission: ADMISSION }, () => {
      expect([context.user, context.findUser()]).toEqual([ADMISSION.user, ADMISSION.user]);
      expect([context.token, context.authIv]).toEqual(['token', 'iv']);
      expect(context.findSession()).toEqual({ token: 'token', authIv: 'iv', authority: 'staff' });
    });
  });

  it.each<[string, (read: () => void) => void]>([
    ['outside of a call', (read) => read()],
    ['in a call that no guard has admitted', (read) => runInCall({ admission: undefined }, read)],
    [
      'in a call that was admitted without a session',
      (read) => runInCall({ admission: admissionOf() }, read),
    ],
    [
      'in a part of no call within a call',
      (read) => runInCall({ admission: ADMISSION }, () => runInCall(undefined, read)),
    ],
  ])('is none %s', (_place, run) => {
    run(() => {
      expect([context.findUser(), context.authIv, context.findSession()]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      for (const read of [() => context.user, () => context.token]) {
        expect(read).toThrow(SessionRejectedError);
        expect(read).toThrow(/^There is no session here: SessionContext was read outside of a call/);
        expect(read).toThrow(expect.objectContaining({ code: 'SESSION_REQUIRED', statusCode: 401 }));
      }
    });
  });
});
