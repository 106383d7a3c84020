import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ExecutionContext, Logger } from '@nestjs/common';
import { FailedRule } from '../../guard/access-rule.js';
import { WarningLog } from './warning-log.js';

const MINUTE_MS = 60_000;
const SUBJECTS = 500;
const CALL = {
  getClass: () => WarningLog,
  getHandler: () => ({ name: 'openings' }),
} as unknown as ExecutionContext;
const REQUIREMENT = { kind: 'authorize', text: '@Authorize(OwnsOpening)', isMet: () => true };
const FAILED = new FailedRule(REQUIREMENT, new TypeError('secret'));

describe('the log of warnings', () => {
  let lines: string[];
  let log: WarningLog;
  let warn: { readonly mock: { readonly contexts: unknown[] } };
  const invalid = (path: string): void => log.invalidRecord(path, `${path} must be a string`);

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    warn = jest
      .spyOn(Logger.prototype, 'warn')
      .mockImplementation((line: unknown) => void lines.push(String(line)));
    log = new WarningLog();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('has the context SessionAuth', () => {
    log.storeUnavailable();
    expect(warn.mock.contexts).toMatchObject([{ context: 'SessionAuth' }]);
  });

  it('has each field once a minute', () => {
    for (const path of ['email', 'email', 'phone']) invalid(path);
    expect(lines).toEqual([
      expect.stringMatching(/^invalid user record: email must be a string\./),
      expect.stringMatching(/^invalid user record: phone must be a string\./),
    ]);

    jest.advanceTimersByTime(MINUTE_MS - 1);
    invalid('email');
    expect(lines).toHaveLength(2);
    jest.advanceTimersByTime(1);
    invalid('email');
    expect(lines).toHaveLength(3);
  });

  it('has a limited number of fields within a minute, and others in the next', () => {
    for (let index = 0; index < 2 * SUBJECTS; index += 1) invalid(`field${index}`);
    expect(lines).toHaveLength(SUBJECTS);

    jest.advanceTimersByTime(MINUTE_MS);
    log.storeUnavailable();
    invalid('another');
    expect(lines.slice(SUBJECTS)).toEqual([
      expect.stringMatching(/^session store unavailable:/),
      expect.stringMatching(/ another must /),
    ]);
  });

  it.each<[(log: WarningLog) => void, RegExp]>([
    [(each) => each.unexpectedReply(404), /^unexpected reply: 404 with a body\./],
    [(each) => each.tlsFailed('CERT_HAS_EXPIRED'), /^TLS failure: .*failed with CERT_HAS_EXPIRED\./],
    [
      (each) => each.tokenMismatch(),
      /^token mismatch: user_details answered .* its caller gets 503\. .* on purpose\.$/,
    ],
    [
      (each) => each.invalidRecord('', 'one of user_id, email must be set'),
      /^invalid user record: one of user_id, email must be set\. .* userRecord\.$/,
    ],
    [
      (each) => each.cachingForbidden(),
      /^caching forbidden: the session service forbids caching .*cache\.ttlMs has no effect and every .*user_details\.$/,
    ],
    [
      (each) => each.storeUnavailable(),
      /^session store unavailable: checks call the session service instead/,
    ],
    [
      (each) => each.revocationBusInterrupted(),
      /^revocation bus interrupted: .*after cache\.ttlMs at the latest\. The reason is unknown\. Check/,
    ],
    [
      (each) => each.revocationBusInterrupted('No ACL.'),
      /^revocation bus interrupted: .*at the latest\. No ACL\. Check cache\.store/,
    ],
    [
      (each) => each.unreadableMessages(),
      /^unreadable messages: no secret of this instance opens the messages of another/,
    ],
    [
      (each) => each.revocationsLost(3),
      /^revocations lost: 3 reached neither cache\.store nor the other instances/,
    ],
    [(each) => each.clockDiffers(), /^clock differs: the clocks of this host/],
    [
      (each) => each.decisionSubscriberFailed(),
      /^decision subscriber failed: a subscriber of SessionAuthEvents\.decisions\$ threw/,
    ],
    [
      (each) => each.ruleFailed(FAILED, CALL),
      /^rule failed: @Authorize\(OwnsOpening\) of WarningLog\.openings failed with TypeError\. Its calls get 503 .* throw an HttpException\.$/,
    ],
    [
      (each) => each.ruleFailed(new FailedRule({ kind: 'flags', isMet: () => true }, undefined, true), CALL),
      /^rule failed: flags of WarningLog\.openings took longer than timeoutMs\./,
    ],
    [(each) => each.warn('of a plugin', 'correct it.'), /^of a plugin: correct it\.$/],
    [(each) => each.noAuthority(), /^no authority: the option authority threw, .* the call got 401\./],
    [(each) => each.unencryptedBaseUrl(), /^plain text: baseUrl is http: and not on this host/],
  ])('says once what is wrong and what to do, after the name of its registration: line %#', (write, line) => {
    write(log);
    write(log);
    write(new WarningLog('staff'));
    expect(lines).toEqual([expect.stringMatching(line), `staff: ${lines[0]}`]);
  });

  it('has an error, and no warning, if everyone is refused, once a minute, and a line when that ends', () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const info = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    const staff = new WarningLog('staff');
    staff.misconfigurationSuspected('since startup');
    for (let times = 0; times < 2; times += 1) {
      staff.sessionsAcceptedAgain();
      staff.misconfigurationSuspected('after acceptance');
    }
    expect(error.mock.calls).toEqual([
      [expect.stringMatching(/^staff: every token has been refused since startup/)],
      [
        expect.stringMatching(
          /^staff: sessions of several users that were accepted before are refused: apiKey or baseUrl is probably wrong now/,
        ),
      ],
    ]);
    expect(info.mock.calls).toEqual([['staff: sessions are accepted again']]);
    expect(lines).toEqual([]);
  });

  it.each<[unknown, string]>([
    ['text', 'String'],
    [undefined, 'an error of an unnamed class'],
    [Object.create(null), 'an error of an unnamed class'],
    [{ constructor: { name: 'a secret: 7' } }, 'an error of an unnamed class'],
  ])('names the class of %p that a rule threw', (error, name) => {
    log.ruleFailed(new FailedRule(REQUIREMENT, error), CALL);
    expect(lines).toEqual([expect.stringContaining(` failed with ${name}. `)]);
  });

  it('says how to correct a user record', () => {
    invalid('email');
    expect(lines).toEqual([
      expect.stringMatching(/answers so\. Correct the record there, or the decorators of userRecord\.$/),
    ]);
  });
});
