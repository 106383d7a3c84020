import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { TokenKey } from '../../libs/session-auth/src/contract/session-identity.js';
import { noReplyAt } from '../../libs/session-auth/src/client/deadline.js';
import { Deadlines } from '../../libs/session-auth/src/client/deadline.js';
import { UNAUTHENTICATED, unavailable } from '../../libs/session-auth/src/contract/outcome.js';
import type { Ask } from '../../libs/session-auth/src/verifier/lanes/lane.js';
import { ProtectedCheck } from '../../libs/session-auth/src/verifier/lanes/protected-check.js';
import { randomNumbers } from './flood.js';
import { VirtualClock } from './virtual-clock.js';

const SETTINGS = { timeoutMs: 3_000, maxAttempts: 2, maxInFlight: 128, maxQueued: 1_024 };

/** A service that accepts in 450 ms, refuses junk in 2 ms, and is far from its limits. */
describe('a service that has time', () => {
  let clock: VirtualClock;
  let check: ProtectedCheck<string>;
  let denied: number;
  let random: () => number;

  beforeEach(() => {
    clock = new VirtualClock().install();
    const ask: Ask<string> = ({ token }, deadline) =>
      new Promise((settle) => {
        deadline.onEnd((end) => settle(unavailable(noReplyAt(end).noReply)));
        const isJunk = token.startsWith('junk');
        clock.after(isJunk ? 2 : 450, () => settle(isJunk ? UNAUTHENTICATED : { kind: 'authenticated', user: token }));
      });
    check = new ProtectedCheck(ask, new Deadlines(), SETTINGS);
    denied = 0;
    random = randomNumbers(7);
  });
  afterEach(() => void jest.restoreAllMocks());

  async function come(token: string): Promise<void> {
    const verdict = await check.run({ token, authIv: undefined }, token as TokenKey);
    check.known.update(token as TokenKey, verdict);
    if (verdict.kind === 'unavailable') denied += 1;
  }

  /** Lets so many tokens come at random times until then. */
  function arrive(count: number, untilMs: number, tokenOf: (turn: number) => string): void {
    for (let turn = 0; turn < count; turn += 1) clock.after(random() * untilMs, () => void come(tokenOf(turn)));
  }

  it.each([5, 20])('serves every new user beside known ones and %i tokens a second that it refuses at once', async (junk) => {
    for (let user = 0; user < 100; user += 1) check.known.add(`known-${user}` as TokenKey);
    arrive(600, 30_000, (turn) => `known-${turn % 100}`);
    arrive(2_400, 30_000, (turn) => `new-${turn}`);
    arrive(junk * 30, 30_000, (turn) => `junk-${turn}`);
    await clock.runUntil(40_000);
    expect(denied).toBe(0);
  });

  it('serves 500 users who come within two seconds after the start, and each again a second after the answer', async () => {
    const again = async (token: string): Promise<void> => {
      await come(token);
      if (clock.nowMs < 6_000) clock.after(500 + random() * 1_000, () => void again(token));
    };
    for (let user = 0; user < 500; user += 1) clock.after(random() * 2_000, () => void again(`user-${user}`));
    await clock.runUntil(12_000);
    expect(denied).toBe(0);
  });
});
