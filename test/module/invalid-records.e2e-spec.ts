import { describe, expect, it } from '@jest/globals';
import { IsIn, IsOptional, Validate, ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import { SessionAuthService, UserRecord } from 'nestjs-session-auth';
import { json } from 'nestjs-session-auth/testing';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

@ValidatorConstraint()
class ThrowingValidator implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    throw new TypeError(String(value));
  }
}

class Employee extends UserRecord {
  @IsOptional() @IsIn(['day', 'night']) readonly shift?: 'day' | 'night' | undefined;
  @IsOptional() @Validate(ThrowingValidator) readonly team?: string | undefined;
}

const WARNING = 'invalid user record';
const REMEDY = 'Its user gets 503 while the session service answers so. Correct the record there, or the decorators of userRecord.';

describe.each(PLATFORMS)('a user record that is invalid, on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function start() {
    const service = await bed.service();
    const log = new CapturedLog();
    const app = await bed.sample({ baseUrl: service.url, options: { userRecord: Employee } }, { logger: log });
    const warnings = (): string[] => log.having('warn', WARNING);
    return { service, app, log, warnings };
  }

  it('is answered with 503, and the log names the field and its type once, without value, user and token', async () => {
    const { service, app, log, warnings } = await start();
    const tokens = ['ann', 'bob'].map((username) => service.signInAs({ username, ccl_info: { client_id: 'the value' } } as object));

    for (const token of [...tokens, ...tokens]) expect((await app.get('/me', token)).status).toBe(503);
    expect(warnings()).toEqual([`warn ${WARNING}: ccl_info.client_id must be a safe integer. ${REMEDY} SessionAuth`]);
    for (const secret of ['the value', 'ann', 'bob', ...tokens]) expect(log.lines.join('\n')).not.toContain(secret);
  });

  it('is logged once for each field, those of the own record class included', async () => {
    const { service, app, warnings } = await start();
    const records = [
      { shift: 'noon' },
      { ats_enabled: 'yes' },
      { shift: 'noon' },
      { username: '', email: '' },
      { username: 'ann', ccl_info: 7 },
    ];

    for (const record of records) expect((await app.get('/me', service.signInAs(record as object))).status).toBe(503);
    expect(warnings()).toEqual([
      expect.stringContaining('shift must be one of the following values: day,night.'),
      expect.stringContaining('ats_enabled must be a boolean value.'),
      expect.stringContaining('one of username, email (identityFields) must be a non-empty string.'),
      expect.stringContaining('ccl_info must be an object.'),
    ]);
  });

  it('is logged if a validator throws, without the text of its error', async () => {
    const { service, app, warnings } = await start();

    expect((await app.get('/me', service.signInAs({ team: 'the value' } as object))).status).toBe(503);
    expect(warnings()).toEqual([`warn ${WARNING}: a validator or a transformation of Employee threw an error. ${REMEDY} SessionAuth`]);
  });

  it('is logged at a sign-in too', async () => {
    const { service, app, warnings } = await start();
    service.on('sign_in', json({ username: 'ann', auth_token: 'token', ats_enabled: 'yes' }));

    await expect(app.app.get(SessionAuthService).signIn({ username: 'ann', password: 'x' })).rejects.toMatchObject({ statusCode: 503 });
    expect(warnings()).toEqual([expect.stringContaining('ats_enabled must be a boolean value.')]);
  });

  it('leaves no line if every field is valid', async () => {
    const { service, app, warnings } = await start();

    expect((await app.get('/me', service.signInAs({ shift: 'day' } as object))).status).toBe(200);
    expect(warnings()).toEqual([]);
  });
});
