import { beforeAll, describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { GRAPHQL } from '../graphql/graphql-transport.js';
import { callParameter, TRANSPORTS } from './transport.js';
import { RPC } from '../messages/message-transport.js';
import { WEB_SOCKET } from '../gateways/socket-transport.js';
import { fromPayload } from './token-source.js';

function contextOf(type: string, ...args: unknown[]): ExecutionContextHost {
  const context = new ExecutionContextHost(args);
  context.setType(type);
  return context;
}

function openKinds(): void {
  TRANSPORTS.set('graphql', GRAPHQL);
  TRANSPORTS.set('ws', WEB_SOCKET);
  TRANSPORTS.set('rpc', RPC);
}

describe('a call', () => {
  beforeAll(openKinds);

  it.each<[string, unknown[]]>([
    ['http', [{ params: { id: '7' } }, {}]],
    ['graphql', [{}, { id: '7' }, {}, { variableValues: {} }]],
    ['ws', [{}, { id: '7' }, 'find']],
    ['rpc', [{ id: '7' }, {}]],
  ])('over %s has parameters', (kind, args) => {
    expect(callParameter(contextOf(kind, ...args), 'id')).toBe('7');
    expect(callParameter(contextOf(kind, ...args), 'other')).toBeUndefined();
    expect(callParameter(contextOf(kind, ...args), 'constructor')).toBeUndefined();
  });
});

const request = { headers: {}, params: { token: 'good' } };

function find(type: string, ...args: unknown[]): unknown {
  return fromPayload('token')(contextOf(type, ...args), request);
}

describe('a token in the payload', () => {
  beforeAll(openKinds);

  it.each([
    ['ws', [{}, { token: 'good' }, 'message']],
    ['rpc', [{ token: 'good' }, {}]],
  ])('is found in a message over %s', (type, args) => {
    expect(find(type, ...args)).toBe('good');
  });

  it.each([
    ['http', [request, {}, () => undefined]],
    ['graphql', [{}, { token: 'good' }, { req: request }, { variableValues: {} }]],
    ['pigeon', [{ token: 'good' }]],
  ])('is not read over %s', (type, args) => {
    expect(find(type, ...args)).toBeUndefined();
  });

  it.each([undefined, null, 'token', 5, {}, Object.create({ token: 'good' })])(
    'is not in the payload %j',
    (payload: unknown) => {
      expect(find('rpc', payload, {})).toBeUndefined();
    },
  );
});
