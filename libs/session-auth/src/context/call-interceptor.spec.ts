import { describe, expect, it } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { CallHandler } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { Subscription } from '@nestjs/graphql';
import { defer, firstValueFrom, of, Subject, type Observable } from 'rxjs';
import { admissionOf } from '../../../../test/support/session-parts.js';
import { attach } from '../guard/guarded-request.js';
import { TRANSPORTS, transportOf } from '../guard/transport.js';
import { CallInterceptor } from './call-interceptor.js';
import { currentCall, runInCall } from './current-call.js';
import { runField } from './field-calls.js';
import { GRAPHQL } from '../graphql/graphql-transport.js';
import { RPC } from '../messages/message-transport.js';

TRANSPORTS.set('graphql', GRAPHQL);
TRANSPORTS.set('rpc', RPC);

const interceptor = new CallInterceptor();

class Names {
  readonly find = (): void => undefined;
  @Subscription(() => String)
  onName(): string {
    return 'name';
  }
}
// eslint-disable-next-line @typescript-eslint/unbound-method -- read for its metadata
const SUBSCRIPTION = Names.prototype.onName;
const QUERY = new Names().find;

/** A call of a handler, which a guard has admitted for a user; without a name, no guard has. */
function callOf(
  kind: string,
  args: unknown[],
  username?: string,
  handler: () => unknown = QUERY,
): ExecutionContextHost {
  const context = new ExecutionContextHost(args, Names, handler);
  context.setType(kind);
  if (username === undefined) return context;
  const call = transportOf(context)?.open(context);
  if (!call) throw new Error('of an unknown kind');
  attach(call.request, admissionOf({ context, user: { username } }));
  call.transport.admitted?.(call);
  return context;
}

const userName = (): string => currentCall()?.admission?.user?.username ?? 'none';
const HANDLER: CallHandler = { handle: () => defer(() => of(userName())) };
const resultOf = (context: ExecutionContextHost, handler = HANDLER): Promise<unknown> =>
  firstValueFrom(interceptor.intercept(context, handler));

const httpCall = (username?: string): ExecutionContextHost => callOf('http', [{}, {}], username);

describe('a handler', () => {
  it('runs as a part of its call', async () => {
    expect(await resultOf(httpCall('ann'))).toBe('ann');
    expect(userName()).toBe('none');
  });

  it('runs as it is, if no guard has admitted its call', () => {
    const result = of('result');
    expect(interceptor.intercept(httpCall(), { handle: () => result })).toBe(result);
  });

  it('that another handler calls has the user of its own call, and none if no guard has admitted it', async () => {
    const calling = (context: ExecutionContextHost): CallHandler => ({
      handle: () => interceptor.intercept(context, HANDLER),
    });
    expect(await resultOf(httpCall('ann'), calling(httpCall('bob')))).toBe('bob');
    expect(await resultOf(httpCall('ann'), calling(httpCall()))).toBe('none');
    expect(await runInCall({ admission: undefined }, () => resultOf(httpCall('bob')))).toBe('bob');
  });

  it('has one call, if its class names the interceptor too', async () => {
    const args = [{}, {}];
    const context = callOf('http', args, 'ann');
    const calls: unknown[] = [];
    const readCall: CallHandler = { handle: () => of(calls.push(currentCall())) };
    const again: CallHandler = {
      handle: () => {
        calls.push(currentCall());
        return interceptor.intercept(new ExecutionContextHost(args, Names, QUERY), readCall);
      },
    };

    await resultOf(context, again);
    expect(calls).toEqual([expect.anything(), expect.anything()]);
    expect(calls[0]).toBe(calls[1]);
  });

  it('that streams its requests gets each of them as a part of its call', async () => {
    const requests = new Subject<string>();
    const context = callOf('rpc', [requests, {}], 'ann');
    const result = resultOf(context, {
      handle: () =>
        defer(
          () =>
            new Promise((resolve) =>
              context.getArgByIndex<Observable<string>>(0).subscribe(() => resolve(userName())),
            ),
        ),
    });
    runInCall(undefined, () => requests.next('one'));
    expect(await result).toBe('ann');
  });

  it.each([
    ['rpc', 'payload'],
    ['http', new Subject()],
  ])('of %s keeps an argument that is no stream of requests', async (kind, first) => {
    const args = [first, {}];
    expect(await resultOf(callOf(kind, args, 'ann'))).toBe('ann');
    expect(args[0]).toBe(first);
  });
});

describe('a resolver', () => {
  const infoBelow = (prev: object | undefined, execution: object) => ({
    path: { prev },
    variableValues: execution,
  });
  const callTo = (info: object, username?: string, handler?: () => unknown): ExecutionContextHost =>
    callOf('graphql', [{}, {}, {}, info], username, handler);

  async function* events(): AsyncGenerator<string> {
    yield await Promise.resolve(userName());
  }
  const next = (iterator: unknown): Promise<unknown> => (iterator as AsyncGenerator).next();

  it('runs as a part of its call, which the fields below it have too', async () => {
    const info = infoBelow(undefined, {});
    expect(await resultOf(callTo(info, 'ann'))).toBe('ann');
    expect(
      await runField({ info: infoBelow(info.path, info.variableValues) }, () => Promise.resolve(userName())),
    ).toBe('ann');
  });

  it('of many fields at once, which has no info object, runs as a part of its call', async () => {
    const request = new IncomingMessage(new Socket());
    expect(await resultOf(callOf('graphql', [[{ obj: {} }], { req: request }], 'ann'))).toBe('ann');
  });

  it('of a subscription runs as a part of its call, from its first event on', async () => {
    const iterator = await resultOf(callTo(infoBelow(undefined, {}), 'ann', SUBSCRIPTION), {
      handle: () => of(events()),
    });
    expect(await next(iterator)).toEqual({ done: false, value: 'ann' });
  });
});
