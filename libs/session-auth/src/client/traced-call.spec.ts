import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CALLS, type CallMessage } from '../contract/diagnostics.js';
import { UNAUTHENTICATED, unavailable } from '../contract/outcome.js';
import { Deadline } from './deadline.js';
import type { Answer } from './reply.js';
import { clientWith, reply, USER } from '../../../../test/support/service-requests.js';

const deadline = new Deadline(60_000);
deadline.clear();
const session = { token: 'token', authIv: undefined };
const credentials = { username: 'ann', password: 'secret' };
const baseUrl = 'https://service.example:8443/base';
const clientOf = (answer: Answer) => clientWith(answer, { baseUrl }).client;

const published: [event: string, message: unknown][] = [];
/** Node.js itself adds the result and the error of the promise. */
const record = (event: string) => (message: CallMessage & { readonly result?: unknown }) => {
  expect(message.result).toBeUndefined();
  published.push([
    event,
    Object.fromEntries(Object.entries(message).filter(([name]) => name !== 'result' && name !== 'error')),
  ]);
};
const subscribers = {
  start: record('start'),
  end: () => undefined,
  asyncStart: () => undefined,
  asyncEnd: record('asyncEnd'),
};
const subscription = { ...subscribers, error: () => undefined };

beforeEach(() => CALLS.subscribe(subscription));
afterEach(() => {
  CALLS.unsubscribe(subscription);
  published.length = 0;
});

const server = { serverAddress: 'service.example', serverPort: 8443 };
const CHECK = { operation: 'user_details', method: 'GET', ...server };
const SIGN_IN = { operation: 'sign_in', method: 'POST', ...server };
const SIGN_OUT = { operation: 'sign_out', method: 'DELETE', ...server };

/** The messages of a call: that of its start, and that of its end. A message has nothing of the session. */
const ofCall = (start: object, end: object) => [
  ['start', start],
  ['asyncEnd', { ...start, ...end }],
];

describe('a check that is published', () => {
  it.each<[Answer, object]>([
    [reply(200), { statusCode: 200, outcome: 'authenticated' }],
    [reply(403), { statusCode: 403, outcome: 'forbidden' }],
    [reply(500), { statusCode: 500, outcome: 'unavailable', reason: 'server_error' }],
    [unavailable('timeout'), { outcome: 'unavailable', reason: 'timeout' }],
  ])('with %j ends with %j, and has the same verdict as one that is not', async (answer, end) => {
    const verdict = await clientOf(answer).userDetails(session, deadline);
    expect(published).toStrictEqual(ofCall(CHECK, end));
    CALLS.unsubscribe(subscription);
    expect(verdict).toStrictEqual(await clientOf(answer).userDetails(session, deadline));
    expect(published).toHaveLength(2);
  });
});

describe('a sign-in or sign-out that is published', () => {
  it('ends as done, and has its result', async () => {
    const result = { kind: 'signed-in', user: USER, token: 'token' };
    expect(await clientOf(reply(200)).signIn(credentials, undefined, deadline)).toEqual(result);
    expect(published).toStrictEqual(ofCall(SIGN_IN, { statusCode: 200, outcome: 'done' }));
    published.length = 0;
    await expect(clientOf(reply(200)).signOut(session, deadline)).resolves.toBeUndefined();
    expect(published).toStrictEqual(ofCall(SIGN_OUT, { statusCode: 200, outcome: 'done' }));
  });

  it('ends as failed if it is refused, and without a status if there is no reply', async () => {
    await expect(clientOf(reply(401)).signIn(credentials, undefined, deadline)).rejects.toMatchObject({
      code: 'CREDENTIALS_REJECTED',
    });
    expect(published).toStrictEqual(ofCall(SIGN_IN, { statusCode: 401, outcome: 'failed' }));
    published.length = 0;
    await expect(clientOf(unavailable('unreachable')).signOut(session, deadline)).rejects.toMatchObject({
      reason: 'unreachable',
    });
    expect(published).toStrictEqual(ofCall(SIGN_OUT, { outcome: 'failed' }));
  });
});

describe('a message', () => {
  it.each([
    ['http://service.example', 80],
    ['https://service.example', 443],
    ['http://service.example:443', 443],
    ['https://service.example:80', 80],
  ])('has the address of %s with the port %i', async (baseUrl, serverPort) => {
    await expect(clientWith(reply(401), { baseUrl }).client.userDetails(session, deadline)).resolves.toEqual(
      UNAUTHENTICATED,
    );
    expect(published[0]).toEqual(['start', { ...CHECK, serverPort }]);
  });
});
