import { describe, expect, it } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { GRAPHQL } from './graphql-transport.js';

/** A field of one execution, as graphql-js resolves it. */
const field = (operation: object, execution: object = {}, parameters: object = {}): ExecutionContext =>
  new ExecutionContextHost([{}, parameters, operation, { fieldName: 'me', variableValues: execution }]);

function httpRequest(headers: Record<string, string> = {}): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers, httpVersion: '1.1' });
}

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

  const upgrade = Object.assign(httpRequest({ upgrade: 'WebSocket', 'x-auth-token': 'good' }), { upgrade: true });
  const connection = { extra: { request: upgrade }, connectionParams: { 'x-auth-token': 'chosen' } };

  it.each<[string, object, string]>([
    ['graphql-ws, with the context that Nest builds', { req: connection }, 'chosen'],
    ['graphql-ws, with its own context', connection, 'chosen'],
    ['graphql-ws, with the request that opened the socket', { req: upgrade }, 'good'],
    ['Mercurius', { request: upgrade, reply: { request: upgrade }, _connectionInit: { 'X-Auth-Token': 'chosen' } }, 'chosen'],
    ['an object that the application has built', { req: { headers: { 'x-auth-token': 'good' } } }, 'good'],
  ])('is separate for each execution over a socket: %s', (_name, operation, token) => {
    const execution = {};
    const request = requestOf(field(operation, execution));

    expect(request).toMatchObject({ headers: { 'x-auth-token': token } });
    expect(requestOf(field(operation, execution))).toBe(request);
    expect(requestOf(field(operation))).not.toBe(request);
    expect(GRAPHQL.requestOf(field(operation, execution))).toBe(request);
    expect(GRAPHQL.requestOf(field(operation))).toBeUndefined();
  });

  it.each([undefined, {}, { req: {} }, { req: { headers: 'x' } }])('presents nothing in the context %j', (operation) => {
    expect(requestOf(field(operation as object))).toMatchObject({ headers: {} });
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

describe('the parameters of a field', () => {
  it('are its arguments', () => {
    expect(GRAPHQL.parameters(field({}, {}, { clientId: 7 }))).toEqual({ clientId: 7 });
  });
});
