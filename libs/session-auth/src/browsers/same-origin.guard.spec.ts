import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { DENIAL_CHANNEL } from '../contract/diagnostics.js';
import { InvalidConfigurationError } from '../contract/errors.js';
import { storeUpgrade } from '../kinds/socket-client.js';
import type { CrossOriginOptions } from '../guard/cross-origin.js';
import { SameOriginGuard } from './same-origin.guard.js';
import { WEB_SOCKET } from '../gateways/socket-transport.js';
import { GRAPHQL } from '../graphql/graphql-transport.js';
import { TRANSPORTS } from '../guard/transport.js';

TRANSPORTS.set('ws', WEB_SOCKET);
TRANSPORTS.set('graphql', GRAPHQL);

const APP = 'https://app.example.com';

/** Returns the context of a request, and the headers that its reply has. */
function calling(method: string, headers: object, type = 'http') {
  const sent: Record<string, string> = {};
  const reply = {
    getHeader: () => undefined,
    setHeader: (name: string, value: string) => (sent[name] = value),
  };
  const http = { getRequest: () => ({ method, headers }), getResponse: () => reply };
  const context = {
    getType: () => type,
    switchToHttp: () => http,
    getArgs: () => [http.getRequest(), reply],
  };
  const byIndex = { getArgByIndex: (index: number) => context.getArgs()[index] };
  return { sent, context: { ...context, ...byIndex } as unknown as ExecutionContext };
}

const denials: unknown[] = [];
const record = (message: unknown): void => void denials.push(message);
beforeEach(() => {
  subscribe(DENIAL_CHANNEL, record);
});
afterEach(() => {
  unsubscribe(DENIAL_CHANNEL, record);
  denials.length = 0;
});

describe('a guard of a sign-in', () => {
  it.each<[string, string, string, string[]]>([
    ['of its own origin', 'POST', 'app.example.com', []],
    ['of a trusted origin', 'POST', 'api.example.com', [APP]],
    ['of another origin, which changes nothing', 'GET', 'api.example.com', []],
  ])('admits a call %s: %s to %s, trusting %j', (_name, method, host, trustedOrigins) => {
    const { sent, context } = calling(method, { host, origin: APP });
    expect(new SameOriginGuard({ trustedOrigins }).canActivate(context)).toBe(true);
    expect([sent, denials]).toEqual([{}, []]);
  });

  it.each<[string, string[]]>([
    [APP, []],
    ['https://evil.example', [APP]],
  ])('denies a call of a page of %s, trusting %j', async (origin, trustedOrigins) => {
    const { sent, context } = calling('POST', { host: 'api.example.com', origin });
    const denial = { code: 'CROSS_ORIGIN_DENIED', statusCode: 403 };
    await expect(new SameOriginGuard({ trustedOrigins }).canActivate(context)).rejects.toMatchObject(denial);
    expect([sent, denials]).toEqual([{ 'cache-control': 'no-store' }, [{ code: 'CROSS_ORIGIN_DENIED' }]]);
  });

  it.each([
    ['that has no reply', 'POST', 'graphql', 'CROSS_ORIGIN_DENIED'],
    ['of an unknown transport', 'GET', 'other', 'ACCESS_DENIED'],
  ])('denies a call %s', async (_name, method, type, code) => {
    const { context } = calling(method, { host: 'api.example.com', origin: APP }, type);
    await expect(new SameOriginGuard().canActivate(context)).rejects.toMatchObject({ statusCode: 403, code });
  });

  it('denies a message of a ws socket whose page is unknown, and admits one of a page of its own origin', async () => {
    const client = { readyState: 1, once: () => undefined, emit: () => undefined };
    const messageOf = (): ExecutionContext => {
      const context = new ExecutionContextHost([client, {}, 'sign-in']);
      context.setType('ws');
      return context;
    };
    const denial = { error: { status: 'error', code: 'CROSS_ORIGIN_DENIED', statusCode: 403 } };
    await expect(new SameOriginGuard().canActivate(messageOf())).rejects.toMatchObject(denial);
    const rawHeaders = ['Host', 'app.example.com', 'Origin', APP, 'Upgrade', 'websocket'];
    storeUpgrade(client, Object.assign(new IncomingMessage(new Socket()), { rawHeaders }));
    expect(new SameOriginGuard().canActivate(messageOf())).toBe(true);
  });

  it.each<[unknown, string]>([
    [{ trustedOrigins: ['*'] }, 'SameOriginGuard has trustedOrigins[0]'],
    [
      { trusted: [APP] },
      'SameOriginGuard has "trusted", which is not an option. The option is trustedOrigins.',
    ],
  ])('is not made with the options %j', (options, problem) => {
    const make = (): unknown => new SameOriginGuard(options as CrossOriginOptions);
    expect(make).toThrow(InvalidConfigurationError);
    expect(make).toThrow(problem);
  });
});
