import { EventEmitter } from 'node:events';
import { expect, it } from '@jest/globals';
import { openCall } from '../../../../test/support/session-parts.js';
import { ADMISSION } from '../guard/guarded-request.js';
import type { CallRequest } from '../guard/transport.js';
import { closeWithSession } from './watched-socket.js';

it('A socket of GraphQL has subscriptions of eight sessions at most, and of each as many as it likes', () => {
  const { call, admission, registration } = openCall();
  const socket = Object.assign(new EventEmitter(), { readyState: 1 });
  const subscribe = (token: string): string | undefined => {
    const request = { [ADMISSION]: { ...admission, session: { token, authIv: undefined } } };
    const { context } = admission;
    return closeWithSession(
      { ...call, context, request: request as unknown as CallRequest },
      registration,
      socket,
    )?.code;
  };
  const codes = Array.from({ length: 9 }, (_, index) => subscribe(`token-${index}`));
  expect(codes).toEqual([...Array<undefined>(8).fill(undefined), 'SESSION_SERVICE_UNAVAILABLE']);
  expect([subscribe('token-0'), subscribe('token-7')]).toEqual([undefined, undefined]);
});
