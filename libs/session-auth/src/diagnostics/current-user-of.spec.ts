import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { admissionOf } from '../../../../test/support/session-parts.js';
import { attach, type GuardedRequest } from '../guard/guarded-request.js';
import { WEB_SOCKET } from '../gateways/socket-transport.js';
import { currentUserOf } from './current-user-of.js';
import { TRANSPORTS } from '../guard/transport.js';

TRANSPORTS.set('ws', WEB_SOCKET);

class Names {
  readonly find = (): void => undefined;
  readonly list = (): void => undefined;
}
class Other {
  readonly kind = 'other';
}
const { find, list } = new Names();
const ann = { username: 'ann' };

function contextOf(
  kind: string,
  args: unknown[],
  type: new () => object = Names,
  handler: () => void = find,
): ExecutionContextHost {
  const context = new ExecutionContextHost(args, type, handler);
  context.setType(kind);
  return context;
}

function admit(context: ExecutionContextHost, request: GuardedRequest): void {
  attach(request, admissionOf({ context, user: ann }));
}

describe('the user of a call', () => {
  it('is that of its admission, in the context of the guard and in any other one of the same call', () => {
    const request = {};
    const context = contextOf('http', [request, {}]);
    expect(currentUserOf(context)).toBeUndefined();

    admit(context, request);

    for (const each of [context, contextOf('http', [request, {}])]) expect(currentUserOf(each)).toBe(ann);
  });

  it('is that of the context of the guard, also if it names no handler', () => {
    const request = {};
    const context = contextOf('http', [request, {}]);
    admit(context, request);
    Object.assign(context, { getHandler: () => ({}) });
    expect(currentUserOf(context)).toBe(ann);
  });

  it.each<[string, new () => object, () => void]>([
    ['another method', Names, list],
    ['a method of another class', Other, find],
  ])('is none for %s that the request goes on to', (_case, type, handler) => {
    const request = {};
    admit(contextOf('http', [request, {}]), request);
    expect(currentUserOf(contextOf('http', [request, {}], type, handler))).toBeUndefined();
  });

  it('is the one that was admitted, also if an application has replaced it since', () => {
    const request: GuardedRequest = {};
    const context = contextOf('http', [request, {}]);
    admit(context, request);
    request.user = { username: 'impostor' };
    expect(currentUserOf(context)).toBe(ann);
  });

  it('is none if the call was admitted without a session', () => {
    const request = {};
    const context = contextOf('http', [request, {}]);
    attach(request, admissionOf({ context }));
    expect(currentUserOf(context)).toBeUndefined();
  });

  it('is that of the message of a socket, and none of a message that no guard has opened', () => {
    const context = contextOf('ws', [{ handshake: { headers: {} } }, {}, 'find']);
    expect(currentUserOf(context)).toBeUndefined();
    admit(context, WEB_SOCKET.open(context).request);
    expect(currentUserOf(context)).toBe(ann);
  });

  it('is none in a context of an unknown kind', () => {
    const request = {};
    const context = contextOf('pigeon', [request, {}]);
    admit(context, request);
    expect(currentUserOf(context)).toBeUndefined();
  });
});
