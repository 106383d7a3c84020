import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { attach } from './guarded-request.js';
import { type CallRequest, type GuardedCall, watchReply, type WatchRegistration } from './transport.js';

const opened: string[] = [];
beforeEach(() => void opened.splice(0));

/** Admits a call by a registration, whose name is added to the list when the reply is opened. */
function admit(name: string, request: object, reply: ServerResponse): void {
  const context = {} as GuardedCall['context'];
  const verifier = { revoker: { count: 0 } };
  const session = { token: name, authIv: undefined };
  attach(request, { verifier, revocations: 0, context, user: { username: name }, session });
  const registration = { replyOpened: () => opened.push(name) } as unknown as WatchRegistration;
  watchReply({ context, request: request as CallRequest, reply } as GuardedCall, registration);
}

describe('a reply is watched', () => {
  const request = () => new IncomingMessage(new Socket());

  it('by each registration, whatever request object it has admitted', () => {
    const original = request();
    const reply = new ServerResponse(original);
    admit('a', original, reply);
    admit('b', Object.create(original) as object, reply);
    admit('c', {}, reply);
    reply.write('part');
    expect(opened.toSorted()).toEqual(['a', 'b', 'c']);
  });

  it('also if its request has another reply', () => {
    const shared = request();
    const replies = [new ServerResponse(shared), new ServerResponse(shared)] as const;
    admit('a', shared, replies[0]);
    admit('b', shared, replies[1]);
    replies[1].flushHeaders();
    expect(opened).toEqual(['b']);
    replies[0].write('part');
    expect(opened).toEqual(['b', 'a']);
  });
});
