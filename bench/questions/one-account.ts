import assert from 'node:assert/strict';
import type { Callers, FloodApi } from '../processes/flood.worker.js';
import type { SessionServiceSettings } from '../processes/session-service.worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import type { Stage } from '../stage.js';
import { atLeast } from '../target.js';
import { tokens } from '../users.js';

const CALM_MS = 2_000;
const FLOOD_MS = 8_000;
/** Milliseconds after which a user gives up waiting. */
const PATIENCE_MS = 5_000;

const KNOWN = { values: tokens('user', 40), perSecond: 40 };
const NEW = { values: tokens('usernew', 1_000), perSecond: 10 };

/** The requests of one account beside other users. */
interface Trick {
  readonly name: string;
  readonly service: Partial<SessionServiceSettings>;
  readonly sessions: number;
  readonly perSecond: number;
  readonly ivs?: string;
  readonly isFresh?: boolean;
  /** Whether it is the same rate without the trick. */
  readonly isBase?: true;
}

const FAILING = { latencyMs: 20, failsForOddIv: true };
const SLOW = { latencyMs: 300, longestMs: 800 };

const TRICKS: readonly Trick[] = [
  { name: '50 sessions', service: FAILING, sessions: 50, perSecond: 200, isBase: true },
  ...[5, 25, 50].map((sessions) => ({
    name: `${sessions} sessions, 500 for the IV`,
    service: FAILING,
    sessions,
    perSecond: 200,
    ivs: 'odd',
  })),
  ...[300, 600].flatMap((perSecond): Trick[] => {
    const one = { service: SLOW, sessions: 1, perSecond };
    return [
      { ...one, name: `one token ${perSecond} times a second`, isBase: true },
      { ...one, name: `one token ${perSecond} times a second, another IV each time`, ivs: 'random' },
      { ...one, name: `one token ${perSecond} times a second, fresh checks`, isFresh: true },
    ];
  }),
];

/** Measures the share of other users that are served beside one account that means harm. */
export const oneAccount: Question = {
  name: 'one-account',
  title: 'Other users served beside one account that means harm (cache off)',
  ask: async (stage) => {
    const findings: Finding[] = [];
    for (const trick of TRICKS) findings.push(...(await findingsOf(stage, trick)));
    const notes = [
      `Fastify. ${KNOWN.perSecond} requests a second of ${KNOWN.values.length} known users, ${NEW.perSecond} of new users, and those of the account, for ${FLOOD_MS / 1_000} s; who has no answer after ${PATIENCE_MS / 1_000} s has gone.`,
      `Sessions of the account: 200 requests a second; the service answers in ${FAILING.latencyMs} ms, with 500 to an odd X-AUTH-IV. One token: the service answers in ${SLOW.latencyMs} to ${SLOW.longestMs} ms, however many requests there are.`,
      'With fresh checks, those of the other users are fresh too. The lines without a target are the same rate without the trick.',
    ];
    return { findings, notes };
  },
};

async function findingsOf(
  stage: Stage,
  { name, service: settings, sessions, perSecond, ivs, isFresh = false, isBase }: Trick,
): Promise<Finding[]> {
  const service = await stage.service(settings);
  const app = await stage.app({ platform: 'Fastify', variant: 'ours', serviceUrl: service.url, isFresh });
  const worker = stage.worker<FloodApi>('flood');
  const flood = { url: `${app.url}/openings`, header: 'x-auth-token', patienceMs: PATIENCE_MS };
  const values = tokens('useraccount', sessions);
  const calm = { known: KNOWN, account: { values, perSecond: Math.max(1, sessions) } };
  const before = await worker.call('flood', { ...flood, durationMs: CALM_MS, callers: calm });
  for (const { asked, replies } of Object.values(before))
    assert.deepEqual(replies, { 200: asked }, 'all are let in before the flood');
  await service.worker.call('takeCalls');
  const account: Callers = { values, perSecond, ...(ivs !== undefined && { ivs }) };
  const callers = { known: KNOWN, unknown: NEW, account };
  const {
    known,
    unknown,
    account: harm,
  } = await worker.call('flood', { ...flood, durationMs: FLOOD_MS, callers });
  const { user = 0, usernew = 0, useraccount = 0 } = await service.worker.call('takeCalls');
  await stage.close();
  assert.ok(known && unknown && harm, 'all kinds were sent');
  const asked = known.asked + unknown.asked;
  const served = (known.replies[200] ?? 0) + (unknown.replies[200] ?? 0);
  const judged = !isBase && { target: atLeast(0.99) };
  return [
    {
      subject: `${name}: others served`,
      unit: 'part',
      value: estimateOf([served / asked]),
      calls: `${user + usernew} for ${asked}`,
      ...judged,
    },
    {
      subject: `${name}: known users waited`,
      unit: 'ms',
      value: estimateOf(known.waitsMs),
      calls: `${useraccount} for ${harm.asked} of the account`,
    },
  ];
}
