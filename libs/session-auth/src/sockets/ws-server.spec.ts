import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { type Answer, chainVerifyClient, isWsServer } from './ws-server.js';

const REQUEST = { url: '/' } as IncomingMessage;
const METHODS = { handleUpgrade: () => undefined, prependListener: () => undefined };

type Options = Parameters<typeof chainVerifyClient>[0];

/**
 * Chains a check that accepts, and returns a function that handshakes: which requests were checked, and what
 * was answered.
 */
function chained(options: Options) {
  const checked: unknown[] = [];
  chainVerifyClient(options, (request, answer) => {
    checked.push(request);
    answer(true, 101);
  });
  return (): { checked: unknown[]; answers: unknown[] } => {
    checked.length = 0;
    const answers: unknown[] = [];
    (options.verifyClient as (info: object, answer: Answer) => void)({ req: REQUEST }, (...answer) =>
      answers.push(answer),
    );
    return { checked: [...checked], answers };
  };
}

const ACCEPTED = { checked: [REQUEST], answers: [[true, 101]] };
const REFUSED = { checked: [], answers: [[false]] };

describe('a server of ws', () => {
  it('is recognized', () => {
    const server = new WebSocketServer({ noServer: true });
    expect([isWsServer(server), isWsServer({ ...METHODS, options: {} })]).toEqual([true, true]);
    server.close();
  });

  it.each<object>([
    {},
    METHODS,
    { ...METHODS, options: {}, handleUpgrade: undefined },
    { ...METHODS, options: {}, prependListener: undefined },
  ])('is none without its options and methods: %j', (server) => expect(isWsServer(server)).toBe(false));
});

describe('the check of a handshake', () => {
  it.each<[string, Options]>([
    ['no verifyClient', {}],
    ['a verifyClient that returns a truthy value', { verifyClient: (info: object) => JSON.stringify(info) }],
    ['a verifyClient that calls back', { verifyClient: (_info: object, answer: Answer) => answer(true) }],
  ])('decides for an application with %s', (_own, options) => {
    expect(chained(options)()).toEqual(ACCEPTED);
  });

  it.each<[string, Options, unknown[]]>([
    ['returns nothing', { verifyClient: (info: object) => Reflect.get(info, 'none') as unknown }, [false]],
    [
      'calls back with a status, a body and headers',
      { verifyClient: (_info: object, answer: Answer) => answer(false, 418, 'teapot', { a: 'b' }) },
      [false, 418, 'teapot', { a: 'b' }],
    ],
  ])('is not made if verifyClient of the application %s', (_own, options, answer) => {
    expect(chained(options)()).toEqual({ checked: [], answers: [answer] });
  });

  it('follows the application, whose verifyClient gets the handshake and the options', () => {
    const calls: unknown[][] = [];
    const returning: Options = {
      verifyClient: function (this: unknown, ...parameters: unknown[]): boolean {
        return calls.push([this, ...parameters]) > 0;
      },
    };
    const calling: Options = {
      verifyClient: function (this: unknown, info: object, answer: Answer): void {
        calls.push([this, info]);
        answer(true);
      },
    };
    for (const options of [returning, calling]) expect(chained(options)()).toEqual(ACCEPTED);
    expect(calls).toEqual([
      [returning, { req: REQUEST }],
      [calling, { req: REQUEST }],
    ]);
  });

  it('is not replaced by a verifyClient that the application assigns later', () => {
    const options: Options = { verifyClient: () => true };
    const handshake = chained(options);
    const check = options.verifyClient;
    options.verifyClient = () => false;
    expect([options.verifyClient, handshake()]).toEqual([check, REFUSED]);
    options.verifyClient = null;
    expect(handshake()).toEqual(ACCEPTED);
  });

  it('is visible to code that copies the options, and can be wrapped', () => {
    const options: Options = {};
    const handshake = chained(options);
    expect(Object.keys(options)).toEqual(['verifyClient']);
    expect({ ...options }.verifyClient).toBe(options.verifyClient);
    const again = chained(options);
    expect([again().answers, handshake().answers]).toEqual([[[true, 101]], [[true, 101]]]);
  });
});
