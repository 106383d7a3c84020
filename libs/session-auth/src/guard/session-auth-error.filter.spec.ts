import { HttpException, Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import {
  InvalidConfigurationError,
  markAsSessionAuthError,
  type SessionAuthError,
} from '../contract/errors.js';
import { AccessDeniedError, SessionRejectedError } from '../exceptions/session-exceptions.js';
import type { GuardRegistration } from './guard-registration.js';
import { Challenge } from './challenge.js';
import { SessionAuthErrorFilter } from './session-auth-error.filter.js';
import { fromBearer, fromCookie } from './token-source.js';

function hostOf(type: string, ...args: unknown[]): ExecutionContextHost {
  const host = new ExecutionContextHost(args);
  host.setType(type);
  return host;
}

describe('an error that a handler does not catch', () => {
  it('is thrown again in a context of an unknown kind', () => {
    const error = new AccessDeniedError();
    expect(() => new SessionAuthErrorFilter().catch(error, hostOf('pigeon'))).toThrow(error);
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

  it('is the same for an error that extends an exception of another copy of Nest', () => {
    const error = new ForeignError('denied');
    expect(error).not.toBeInstanceOf(HttpException);
    respond(error);
    const body = { statusCode: 403, message: 'denied', error: 'Forbidden', code: 'ACCESS_DENIED' };
    expect(calls).toEqual([['reply', reply, body, 403]]);
  });

  it('ends if it has been sent already', () => {
    reply.headersSent = true;
    respond(new SessionRejectedError());
    expect([calls, headers.size]).toEqual([[['end', reply]], 0]);
  });

  it('does not reveal a wrong configuration to the client', () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    respond(new InvalidConfigurationError('secret'));
    expect(calls).toEqual([['reply', reply, { statusCode: 500, message: 'Internal server error' }, 500]]);
    expect([headers.size, logged.mock.calls.length]).toEqual([0, 1]);
  });

  it.each([undefined, {}])('is left out without an adapter of HTTP: %j', (httpAdapterHost) => {
    const filter = new SessionAuthErrorFilter();
    Object.assign(filter, { httpAdapterHost });
    expect(() => filter.catch(new SessionRejectedError(), hostOf('http', {}, reply))).not.toThrow();
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('that refuses a session has the challenge of its registration, and keeps one that a guard has set', () => {
    const challenge = new Challenge([fromBearer(), fromCookie('sid')]);
    respond(new SessionRejectedError(), { reader: { challenge } });
    expect(headers.get('www-authenticate')).toBe('Bearer realm="session", error="invalid_token"');
    headers.set('www-authenticate', 'Bearer realm="session"');
    respond(new SessionRejectedError());
    expect(headers.get('www-authenticate')).toBe('Bearer realm="session"');
  });
});
