import { beforeEach, describe, expect, it } from '@jest/globals';
import { CLOCK_OFFSET_MS, markOf } from './evidence.js';
import type { ApplicationName } from './settings.js';
import { Trace, type Ended } from './trace.js';
import { Violations } from './violations.js';

const USER = 'user-1';
const TOKEN = 'token-1';

describe('the trace of the soak', () => {
  let violations: Violations;
  let trace: Trace;
  beforeEach(() => {
    violations = new Violations();
    trace = new Trace(violations);
  });

  /** A check that began at a time, and was accepted by an answer of another time. */
  function accepted(sentAt: number, calledAt: number, application: ApplicationName = 'Express in a fleet', mark = markOf(TOKEN)): void {
    const evidence = { username: USER, answer: Math.round((calledAt + CLOCK_OFFSET_MS) * 1_000), mark };
    trace.accepted({ application, token: TOKEN, username: USER, evidence, sentAt, isFresh: false });
  }

  function ended(kind: Ended['kind'], sentAt: number, repliedAt: number): void {
    const target = kind === 'forgetUser' ? USER : TOKEN;
    trace.ended({ kind, application: 'Express in a fleet', target, username: USER, sentAt, repliedAt });
  }

  function found(): string {
    trace.end();
    return violations.toString();
  }

  it.each<Ended['kind']>(['signOut', 'forget', 'forgetUser'])('rejects an answer from before a %s that had settled', (kind) => {
    accepted(2_000, 1_900);
    ended(kind, 3_000, 3_100);
    accepted(3_200, 1_900);
    expect(found()).toMatch(new RegExp(`^1 x the model allows no such acceptance: revoked: accepted after ${kind}`));
  });

  it('rejects it on another instance of the fleet when the message is due, and not before', () => {
    ended('signOut', 3_000, 3_100);
    accepted(5_000, 2_900, 'Fastify in a fleet');
    accepted(5_200, 2_900, 'Fastify in a fleet');
    expect(found()).toMatch(/^1 x .*revoked: accepted after signOut/);
  });

  it('rejects the answer of another token, and one that has expired', () => {
    accepted(2_000, 1_900, 'Express', markOf('token-2'));
    accepted(4_000, 2_900, 'Express');
    expect(found()).toMatch(/1 x .*own user:.*\n.*\n1 x .*lifetime:/);
  });

  it('does not compare a check with revocations that it has dropped since the check began', () => {
    for (let number = 0; number < 30; number += 1) ended('forget', 1_000 + number, 1_100 + number);
    accepted(2_000, 2_900);
    ended('signOut', 2_100, 3_500);
    expect(found()).toBe('');
    expect(trace.unchecked).toBe(1);
  });

  it('allows a check that began before the revocation, an answer from after it, and applications without its message', () => {
    ended('forgetUser', 3_000, 3_100);
    accepted(3_050, 2_900);
    accepted(3_200, 3_010);
    accepted(3_300, 3_250);
    accepted(3_500, 2_900, 'Express');
    expect(found()).toBe('');
  });
});
