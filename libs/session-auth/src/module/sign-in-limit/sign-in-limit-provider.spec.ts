import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import diagnostics from 'node:diagnostics_channel';
import { DENIALS } from '../../contract/diagnostics.js';
import { CredentialsRejectedError } from '../../exceptions/session-exceptions.js';
import { WarningLog } from '../events/warning-log.js';
import { SETTINGS } from '../settings/settings-providers.js';
import { SIGN_IN_LIMIT } from './sign-in-limit-provider.js';
import { SignInLimit } from './sign-in-limit.js';

const settings = { authority: 'staff', signInLimit: { failures: 1, failuresPerClient: 9, windowMs: 60_000 } };

@Module({
  providers: [{ provide: SETTINGS, useValue: settings }, { provide: WarningLog, useFactory: () => new WarningLog() }, SIGN_IN_LIMIT],
})
class Root {}

const CLIENT = '203.0.113.7';

describe('the limit of sign-ins of a registration', () => {
  const denials: unknown[] = [];
  const listener = (message: unknown): void => void denials.push(message);
  afterEach(() => {
    diagnostics.unsubscribe(DENIALS.name, listener);
    jest.restoreAllMocks();
  });

  it('has its options, and reports what it refuses', async () => {
    const lines: unknown[] = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(line));
    diagnostics.subscribe(DENIALS.name, listener);
    const limit = (await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false })).get(SignInLimit);
    const signIn = (): Promise<unknown> =>
      limit.run('ann', CLIENT, () => Promise.reject(new CredentialsRejectedError())).catch((error: unknown) => error);

    expect(await signIn()).toBeInstanceOf(CredentialsRejectedError);
    expect([denials, lines]).toEqual([[], []]);
    expect(await signIn()).toMatchObject({ code: 'TOO_MANY_ATTEMPTS' });
    expect(denials).toEqual([{ code: 'TOO_MANY_ATTEMPTS', authority: 'staff' }]);
    expect(lines).toEqual([expect.stringMatching(/^sign-ins limited: .*the latest from 203\.0\.113\.7\. /)]);
  });
});
