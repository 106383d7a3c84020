import { HttpException, Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { TcpContext } from '@nestjs/microservices';
import { lastValueFrom, type Observable } from 'rxjs';
import {
  InvalidConfigurationError,
  markAsSessionAuthError,
  type SessionAuthError,
} from '../contract/errors.js';
import { unavailable } from '../contract/outcome.js';
import {
  AccessDeniedError,
  SessionRejectedError,
  SessionServiceUnavailableError,
} from '../exceptions/session-exceptions.js';
import type { GuardRegistration } from './guard-registration.js';
import { Challenge } from './challenge.js';
import { SessionAuthErrorFilter } from './session-auth-error.filter.js';
import { fromBearer, fromCookie } from './token-source.js';
import { WEB_SOCKET } from '../gateways/socket-transport.js';
import { RPC } from '../messages/message-transport.js';
import { GRAPHQL } from '../graphql/graphql-transport.js';
import { TRANSPORTS } from './transport.js';

TRANSPORTS.set('ws', WEB_SOCKET);
TRANSPORTS.set('rpc', RPC);
TRANSPORTS.set('graphql', GRAPHQL);

function hostOf(type: string, ...args: unknown[]): ExecutionContextHost {
  const host = new ExecutionContextHost(args);
  host.setType(type);
  return host;
}

describe('an error that a handler does not catch', () => {
  it.each(['pigeon', '__proto__'])('is thrown again in a context of the unknown kind %j', (type) => {
    const error = new AccessDeniedError();
    expect(() => new SessionAuthErrorFilter().catch(error, hostOf(type))).toThrow(error);
  });

  it('is sent to the client of a gateway, and to the caller of a message', async () => {
    const emit = jest.fn();
    const payload = { status: 'error', code: 'ACCESS_DENIED', message: 'Access is denied' };
    const error = new AccessDeniedError();

    expect(new SessionAuthErrorFilter().catch(error, hostOf('ws', { emit }, {}, 'find'))).toBeUndefined();
    expect(emit.mock.calls).toMatchObject([['exception', { ...payload, statusCode: 403 }]]);
    const answer = new SessionAuthErrorFilter().catch(
      error,
      hostOf('rpc', {}, new TcpContext([{} as never, 'find'])),
    );
    await expect(lastValueFrom(answer as Observable<unknown>)).rejects.toEqual(payload);
  });
});

/** An error of another copy of this package, whose exceptions are those of another copy of Nest. */
class ForeignError extends Error {
  readonly code = 'ACCESS_DENIED';
  readonly statusCode = 403;
}
markAsSessionAuthError(ForeignError);

describe('a reply to an error that a handler does not catch', () => {
  let headers: Map<string, string>;
  let calls: unknown[][];
  const reply = {
    headersSent: false,
    getHeader: (name: string) => headers.get(name),
    setHeader: (name: string, value: string) => headers.set(name, value),
  };
  const adapter = {
    isHeadersSent: (of: unknown) => of === reply && reply.headersSent,
    reply: (...parameters: unknown[]) => calls.push(['reply', ...parameters]),
    end: (...parameters: unknown[]) => calls.push(['end', ...parameters]),
  };

  beforeEach(() => {
    headers = new Map();
    calls = [];
    reply.headersSent = false;
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  function respond(error: SessionAuthError, parts?: object, request: object = {}): void {
    const filter = new SessionAuthErrorFilter(parts as GuardRegistration | undefined);
    Object.assign(filter, { httpAdapterHost: { httpAdapter: adapter } });
    expect(filter.catch(error, hostOf('http', request, reply))).toBeUndefined();
  }

  it.each<[SessionAuthError, object]>([
    [new AccessDeniedError(), {}],
    [
      new SessionRejectedError(),
      { 'www-authenticate': 'X-Auth-Token realm="session", error="invalid_token"' },
    ],
    [new SessionServiceUnavailableError(unavailable('busy', 7)), { 'retry-after': '7' }],
  ])('has the status, the body and the headers of the error, and is not cached: %p', (error, expected) => {
    respond(error);
    const body: unknown = expect.objectContaining({
      statusCode: error.statusCode,
      code: error.code,
      message: error.message,
    });
    expect(calls).toEqual([['reply', reply, body, error.statusCode]]);
    expect(Object.fromEntries(headers)).toEqual({ 'cache-control': 'no-store', ...expected });
  });

  it('has the body that an application has given to the exception', () => {
    const error = new AccessDeniedError();
    jest.spyOn(error, 'getResponse').mockReturnValue('own body');
    respond(error);
    expect(calls).toEqual([['reply', reply, 'own body', 403]]);
  });

  it('is the same for an error that extends an exception of another copy of Nest', () => {
    const error = new ForeignError('denied');
    expect(error).not.toBeInstanceOf(HttpException);
    respond(error);
    expect(calls).toEqual([
      [
        'reply',
        reply,
        { statusCode: 403, message: 'denied', error: 'Forbidden', code: 'ACCESS_DENIED' },
        403,
      ],
    ]);
  });

  it('ends if it has been sent already', () => {
    reply.headersSent = true;
    respond(new SessionRejectedError());
    expect([calls, headers.size]).toEqual([[['end', reply]], 0]);
  });

  it('does not reveal a wrong configuration to the client', () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    respond(new InvalidConfigurationError('secret'));
    expect(calls).toEqual([
      ['reply', reply, expect.not.objectContaining({ code: expect.anything() as unknown }), 500],
    ]);
    expect([
      JSON.stringify(calls.map(([, , body]) => body)).includes('secret'),
      headers.size,
      logged.mock.calls.length,
    ]).toEqual([false, 0, 1]);
  });

  it.each([undefined, {}])('is left out without an adapter of HTTP: %j', (httpAdapterHost) => {
    const filter = new SessionAuthErrorFilter();
    Object.assign(filter, { httpAdapterHost });
    expect(() => filter.catch(new SessionRejectedError(), hostOf('http', {}, reply))).not.toThrow();
    expect(headers.get('cache-control')).toBe('no-store');
  });

  describe('that refuses a session', () => {
    const own = new Challenge([fromBearer(), fromCookie('sid')]);
    const challenge = (error: SessionAuthError, parts?: object, request?: object): string | undefined => {
      headers = new Map();
      respond(error, parts, request);
      return headers.get('www-authenticate');
    };

    it('has the challenge of its registration', () => {
      expect(challenge(new SessionRejectedError(), { reader: { challenge: own } })).toBe(
        'Bearer realm="session", error="invalid_token"',
      );
    });

    it('keeps the challenge that a guard has set', () => {
      headers.set('www-authenticate', 'Bearer realm="session"');
      respond(new SessionRejectedError());
      expect(Object.fromEntries(headers)).toEqual({
        'www-authenticate': 'Bearer realm="session"',
        'cache-control': 'no-store',
      });
    });
  });
});
