import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { BrowserBed, type Answer } from './browser-bed.js';
import { browserCase, VALID, type BrowserCase } from './browser-case.js';
import { read } from './browser-reading.js';
import { permittedFor, type Presented } from './browser-oracle.js';
import { Counts, failOnRejections, limitMs, runsOf, tryCases } from './runs.js';

const readings = runsOf('presented sessions', 2_000, 0.6);
const runs = runsOf('requests and handshakes', 150, 0.02);
const bed = new BrowserBed();
beforeAll(() => bed.start());
afterAll(() => bed.close());
failOnRejections();

/** The answer to the token of a call. */
function answerTo(presented: Presented): Answer {
  if (presented === 'cross-origin') return { status: 403 };
  const isValid = typeof presented !== 'string' && VALID.some((token) => token === presented.token);
  return isValid ? { user: `user of ${presented.token}` } : { status: 401 };
}

function isPermitted({ kind, method, fields }: BrowserCase, right: Answer, answer: Answer): boolean {
  // A reply to HEAD has no body, and a packet without an object is none of socket.io.
  if (kind === 'request' && method === 'HEAD' && typeof right === 'object' && 'user' in right)
    return typeof answer === 'object' && 'user' in answer;
  const isPacket = typeof fields === 'object' && fields !== null && !Array.isArray(fields);
  if (answer === 'closed') return kind === 'fields' && !isPacket;
  return JSON.stringify(right) === JSON.stringify(answer);
}

it(
  'admits requests on Express and on Fastify, and sockets of ws and of socket.io, by the tokens that the rules select, and opens no other socket',
  async () => {
    const counts = new Counts();
    await tryCases(
      'requests and handshakes',
      runs,
      browserCase,
      async (one) => {
        const answer = await bed.send(one);
        counts.add(
          `${one.kind}: ${answer === 'closed' ? answer : 'user' in answer ? 'admitted' : String(answer.status)}`,
        );
        const permitted = permittedFor(one).map(answerTo);
        if (!permitted.some((right) => isPermitted(one, right, answer))) expect(answer).toEqual(permitted);
      },
      counts,
    );
    for (const kind of ['request', 'ws', 'fields'])
      for (const what of ['admitted', '401', '403'])
        expect(counts.get(`${kind}: ${what}`) ?? 0).toBeGreaterThan(0);
  },
  limitMs(runs),
);

it(
  'presents the token of every request and handshake that the rules select, and no cookie of a page of another origin',
  async () => {
    const counts = new Counts();
    await tryCases(
      'presented sessions',
      readings,
      browserCase,
      (one) => {
        const [permitted, found] = [permittedFor(one), read(one)];
        counts.add(typeof found === 'string' ? found : 'a token');
        if (permitted.length === 1) counts.add('with one right result');
        if (!permitted.some((right) => isDeepStrictEqual(right, found))) expect(found).toEqual(permitted);
      },
      counts,
    );
    for (const what of ['a token', 'no token', 'malformed token', 'cross-origin'])
      expect(counts.get(what) ?? 0).toBeGreaterThan(readings.cases / 50);
    expect(counts.get('with one right result') ?? 0).toBeGreaterThan(readings.cases * 0.9);
  },
  limitMs(readings),
);
