import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { fromPayload } from './token-source.js';
import { GRAPHQL } from '../graphql/graphql-transport.js';
import { WEB_SOCKET } from '../gateways/socket-transport.js';
import { RPC } from '../messages/message-transport.js';
import { TRANSPORTS } from './transport.js';

TRANSPORTS.set('graphql', GRAPHQL);
TRANSPORTS.set('ws', WEB_SOCKET);
TRANSPORTS.set('rpc', RPC);

const request = { headers: {}, params: { token: 'good' } };

function find(type: string, ...args: unknown[]): unknown {
  const context = new ExecutionContextHost(args);
  context.setType(type);
  return fromPayload('token')(context, request);
}

describe('a token in the payload', () => {
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
