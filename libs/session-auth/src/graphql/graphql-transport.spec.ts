import { describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { admissionOf, receivedRequest as httpRequest } from '../../../../test/support/session-parts.js';
import { ACCESS_DENIED, SESSION_REQUIRED } from '../contract/denials.js';
import { InvalidConfigurationError, type SessionAuthError } from '../contract/errors.js';
import { unavailable } from '../contract/outcome.js';
import { InvalidRequestError, SessionRejectedError } from '../exceptions/session-exceptions.js';
import { denialOfVerdict } from '../guard/denial.js';
import { Challenge } from '../guard/challenge.js';
import { attach } from '../guard/guarded-request.js';
import { GRAPHQL } from './graphql-transport.js';
import type { CallRequest } from '../guard/transport.js';
import { CALLER } from './operation-context.js';

/** A field of one execution, as graphql-js resolves it. */
const field = (operation: object, execution: object = {}, parameters: object = {}): ExecutionContext =>
  new ExecutionContextHost([{}, parameters, operation, { fieldName: 'me', variableValues: execution }]);

const requestOf = (context: ExecutionContext): unknown => GRAPHQL.open(context).request;

describe('the request of an operation', () => {
  it.each<[string, (request: IncomingMessage) => object]>([
    ['Apollo', (req) => ({ req })],
    ['Mercurius', (request) => ({ reply: { request } })],
  ])('is that of HTTP with %s, for all executions of a batch', (_name, operationOf) => {
    const request = httpRequest();
    expect(requestOf(field(operationOf(request)))).toBe(request);
    expect(requestOf(field(operationOf(request), { other: 'execution' }))).toBe(request);
  });

  const upgrade = Object.assign(httpRequest({ upgrade: 'WebSocket', host: 'a.example' }), { upgrade: true });
  const fields = { 'x-auth-token': 'chosen', host: 'evil.example' };
  const connection = { extra: { request: upgrade }, connectionParams: fields };
  const built = { req: { headers: fields } };
  const init = { headers: { 'X-Auth-Token': 'chosen' }, host: 'evil.example' };

  it.each<[string, object, object, object]>([
    ['graphql-ws, with the context that Nest builds', { req: connection }, upgrade.headers, fields],
    ['graphql-ws, with its own context', connection, upgrade.headers, fields],
    ['graphql-ws, with the request that opened the socket', { req: upgrade }, upgrade.headers, {}],
    [
      'graphql-ws, with a built object',
      { ...built, [CALLER]: { request: connection } },
      upgrade.headers,
      fields,
    ],
    [
      'Mercurius',
      { request: upgrade, reply: { request: upgrade }, _connectionInit: init },
      upgrade.headers,
      fields,
    ],
    ['an object that the application has built', built, {}, fields],
  ])('is separate for each execution over a socket: %s [P24] [P25]', (_name, operation, headers, sent) => {
    const execution = {};
    const request = requestOf(field(operation, execution));

    expect((request as CallRequest).headers).toEqual(headers);
    expect(request).toMatchObject({ handshakeFields: sent });
    expect(requestOf(field(operation, execution))).toBe(request);
    expect(requestOf(field(operation))).not.toBe(request);
    expect(GRAPHQL.requestOf(field(operation, execution))).toBeUndefined();
    expect(GRAPHQL.inherited?.(field(operation, execution))).toBeUndefined();
  });

  it('has no header in the context of Mercurius that a message of the client added to it [P24]', () => {
    const request = Object.assign(httpRequest({ host: 'a.example' }), { upgrade: true });
    request.headers['sec-fetch-site'] = 'same-origin';
    const opened = requestOf(field({ request, reply: { request }, _connectionInit: {} }));
    expect([request.headers, opened]).toMatchObject([{ host: 'a.example' }, { handshakeFields: {} }]);
    expect(request.headers['sec-fetch-site']).toBeUndefined();
  });

  it.each([undefined, {}, { req: { headers: 'x' } }])('presents nothing in the context %j', (operation) => {
    expect(requestOf(field(operation as object))).toMatchObject({ headers: {} });
  });

  it.each<[string, object]>([
    ['two requests of HTTP', { req: httpRequest({ 'x-auth-token': 'good' }), request: httpRequest() }],
    ['a request of HTTP, and one that opened a socket', { req: httpRequest(), ...connection }],
    ['two sockets', { req: connection, extra: { request: Object.assign(httpRequest(), { upgrade: true }) } }],
  ])('presents nothing in a context with %s, because its caller is ambiguous', (_kind, operation) => {
    const opened = GRAPHQL.open(field(operation));
    expect(opened.request).toEqual({ headers: {}, rawHeaders: undefined, handshakeFields: {} });
    expect(opened.reply).toBeUndefined();
  });

  it.each<[string, unknown[]]>([
    ['a reference', [{ id: 1 }, { req: httpRequest() }, { variableValues: {} }]],
    ['a type', [{ id: 1 }, { req: httpRequest() }, { variableValues: {} }, { name: 'Opening' }]],
    ['many fields at once', [[{ obj: {} }], { req: httpRequest() }]],
  ])('is found in a resolver of %s, which has no parameters', (_kind, args) => {
    const context = new ExecutionContextHost(args);
    expect(requestOf(context)).toBe((args[1] as { req: object }).req);
    expect(GRAPHQL.parameters(context)).toBeUndefined();
  });
});

describe('the reply of an operation', () => {
  const express = { setHeader: () => undefined };
  const fastify = { header: () => undefined };

  const req = httpRequest();

  it.each<[string, object, object | undefined]>([
    ['res', { req, res: express }, express],
    ['reply', { req, reply: fastify }, fastify],
    ['the request', { req: Object.assign(httpRequest(), { res: express }) }, express],
    ['the caller', { [CALLER]: { request: req, reply: fastify } }, fastify],
    [
      'reply, and not in a res that takes no headers',
      { req, res: { header: 'text' }, reply: fastify },
      fastify,
    ],
    ['reply, and not in a res that is null', { req, res: null, reply: express }, express],
    ['none, if it has none that takes headers', { req, res: 'text', reply: {} }, undefined],
    ['none over a socket', { req: Object.assign(httpRequest(), { upgrade: true }), res: express }, undefined],
  ])('is in %s', (_place, operation, reply) => {
    expect(GRAPHQL.open(field(operation)).reply).toBe(reply);
  });
});

/** Admits a resolver as a user of this name, as a guard does. */
function admit(context: ExecutionContext, username: string): void {
  const call = GRAPHQL.open(context);
  attach(call.request, admissionOf({ context, user: { username } }));
  GRAPHQL.admitted?.(call);
}

type Named = { readonly username?: string } | undefined;
const ownUser = (context: ExecutionContext) => (GRAPHQL.requestOf(context)?.user as Named)?.username;
const inheritedUser = (context: ExecutionContext) => (GRAPHQL.inherited?.(context)?.user as Named)?.username;

describe('an admitted field', () => {
  it('keeps its user when another field of the operation is admitted with another one', () => {
    const [operation, execution] = [{ req: httpRequest() }, {}];
    const fieldOf = (): ExecutionContext => field(operation, execution);
    const [first, second, open] = [fieldOf(), fieldOf(), fieldOf()];
    admit(first, 'ann');
    admit(second, 'bob');

    expect([first, second, open].map(ownUser)).toEqual(['ann', 'bob', undefined]);
    expect([open, field(operation)].map(inheritedUser)).toEqual([undefined, undefined]);
  });

  it('leaves to the other fields the user that the application has set before, and no other one', () => {
    const user = { username: 'of-a-middleware' };
    const [operation, execution] = [{ req: Object.assign(httpRequest(), { user }) }, {}];
    const [admitted, open] = [field(operation, execution), field(operation, execution)];
    expect(inheritedUser(open)).toBe('of-a-middleware');
    admit(admitted, 'ann');
    admit(field(operation), 'bob');
    expect(ownUser(admitted)).toBe('ann');
    expect([open, field(operation)].map(inheritedUser)).toEqual(Array(2).fill('of-a-middleware'));
  });

  it('has no user if another call with the same info object is admitted with another one', () => {
    const [one, other] = [field({}), field({})];
    other.getArgs<unknown[]>()[3] = one.getArgByIndex(3);
    admit(one, 'ann');
    expect(ownUser(one)).toBe('ann');
    admit(other, 'bob');
    expect([one, other].map(ownUser)).toEqual([undefined, undefined]);
  });
});

describe('an admitted reference', () => {
  const INFO = { fieldName: '_entities', variableValues: {}, path: { key: '_entities', prev: undefined } };
  const [desk, clerk, poster] = [{ id: 1 }, { id: 2 }, { id: 3 }];

  it.each<[string, (reference: object) => ExecutionContext]>([
    ['without arguments', (reference) => new ExecutionContextHost([reference, {}, INFO])],
    ['with arguments', (reference) => new ExecutionContextHost([reference, {}, {}, INFO])],
  ])(
    'keeps its user when another reference with the same info object has another one: %s',
    (_kind, contextOf) => {
      admit(contextOf(desk), 'bob');
      admit(contextOf(clerk), 'ann');
      const contexts = [desk, clerk, poster].map(contextOf);
      expect(contexts.map(ownUser)).toEqual(['bob', 'ann', undefined]);
      expect(contexts.map(inheritedUser)).toEqual(Array(3).fill(undefined));
      Object.assign(INFO, { variableValues: {} });
    },
  );

  it('has no user if it is not an object', () => {
    const context = new ExecutionContextHost(['text', {}, INFO]);
    admit(context, 'ann');
    expect(ownUser(context)).toBeUndefined();
  });
});

it('an admitted resolver of many fields at once has the user that it was admitted with, by its list', () => {
  const [list, operation] = [[{ obj: {} }], { req: httpRequest() }];
  const contextOf = (of: object[]): ExecutionContext => new ExecutionContextHost([of, operation]);
  admit(contextOf(list), 'ann');
  expect([contextOf(list), contextOf([...list])].map(ownUser)).toEqual(['ann', undefined]);
});

describe('the error of an operation', () => {
  it.each([
    [SESSION_REQUIRED, 'UNAUTHENTICATED'],
    [ACCESS_DENIED, 'FORBIDDEN'],
    [denialOfVerdict(unavailable('busy', 7)), 'INTERNAL_SERVER_ERROR'],
  ])('of the denial %j has the code %s', async (denial, code) => {
    const originalError: unknown = expect.objectContaining({
      statusCode: denial.statusCode,
      code: denial.code,
    });
    const rejection = GRAPHQL.deny(GRAPHQL.open(field({})), denial, new Challenge([]));
    await expect(rejection).rejects.toMatchObject({ code: denial.code, extensions: { code, originalError } });
    const [, last] = /^data: (.*)$/m.exec(GRAPHQL.lastEvents?.(denial) ?? '') ?? [];
    expect(JSON.parse(last ?? '')).toMatchObject({ errors: [{ extensions: { code, originalError } }] });
  });

  it.each<[SessionAuthError, string]>([
    [new InvalidRequestError(), 'BAD_REQUEST'],
    [new SessionRejectedError(), 'UNAUTHENTICATED'],
    [new InvalidConfigurationError('wrong'), 'INTERNAL_SERVER_ERROR'],
  ])('that a resolver does not catch is itself, with the extensions of graphql-js: %p', (error, code) => {
    expect(() => GRAPHQL.answer?.(field({}), error)).toThrow(error);
    expect(error).toMatchObject({
      extensions: { code, originalError: { statusCode: error.statusCode, code: error.code } },
    });
  });
});
