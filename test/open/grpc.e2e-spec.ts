import { describe, expect, it } from '@jest/globals';
import { Controller, UseGuards } from '@nestjs/common';
import { GrpcMethod, GrpcStreamCall, GrpcStreamMethod } from '@nestjs/microservices';
import { KeepOpen, SessionAuthGuard } from 'nestjs-session-auth';
import { interval, map, merge, NEVER, type Observable } from 'rxjs';
import { grpcBed, metadata, type Answer, type Call } from '../messages/grpc-bed.js';
import { until } from '../support/until.js';

const EVERY_MS = 5;
const ticks = (): Observable<Answer> => interval(EVERY_MS).pipe(map((tick) => ({ text: `tick ${tick}` })));

/** Calls that never end by themselves. */
@Controller()
@UseGuards(SessionAuthGuard)
class EndlessProcedures {
  @GrpcMethod('Openings', 'Ticks')
  ticks(): Observable<Answer> {
    return ticks();
  }

  @GrpcStreamMethod('Openings', 'Chat')
  chat(questions: Observable<unknown>): Observable<Answer> {
    return merge(ticks(), questions.pipe(map(() => ({ text: 'received' }))), NEVER);
  }

  @GrpcStreamMethod('Openings', 'Converse')
  @KeepOpen()
  converse(): Observable<Answer> {
    return ticks();
  }

  @GrpcStreamCall('Openings', 'Through')
  through(call: { write(answer: Answer): void; on(event: string, listener: () => void): void }): void {
    const writing = setInterval(() => call.write({ text: 'tick' }), EVERY_MS);
    call.on('cancelled', () => clearInterval(writing));
  }
}

describe('a call of gRPC that responds with a stream', () => {
  const bed = grpcBed();

  function read(call: Call): { readonly texts: string[]; readonly error: Promise<unknown> } {
    const texts: string[] = [];
    const reading = async (): Promise<unknown> => {
      try {
        for await (const { text } of call) texts.push(text);
        return 'complete';
      } catch (error) {
        return error;
      }
    };
    return { texts, error: reading() };
  }

  type Method = 'Ticks' | 'Chat' | 'Converse' | 'Through';
  const begin = (method: Method, token: string): Call =>
    method === 'Ticks' ? bed.client.Ticks({}, metadata(token)) : bed.client[method](metadata(token));

  it.each<[string, Method]>([
    ['a stream of the server', 'Ticks'],
    ['a stream in both directions', 'Chat'],
    ['a call that the handler answers itself', 'Through'],
  ])('ends with its session, with UNAUTHENTICATED: %s [P39]', async (_kind, method) => {
    await bed.start({ whileOpen: { recheckMs: 20 } }, { controller: EndlessProcedures });
    const token = bed.service.signInAs({});
    const { texts, error } = read(begin(method, token));
    await until('two have arrived', () => texts.length > 1);
    bed.service.revoke(token);

    expect(await error).toMatchObject({ code: 16, details: 'SESSION_REJECTED: The session is not valid' });
  });

  it('outlives it with @KeepOpen()', async () => {
    await bed.start({ whileOpen: { recheckMs: 20 } }, { controller: EndlessProcedures });
    const token = bed.service.signInAs({});
    const [kept, other] = [begin('Converse', token), read(begin('Ticks', token))];
    const { texts, error } = read(kept);
    await until('it has begun', () => texts.length > 0);
    bed.service.revoke(token);
    await other.error;
    const soFar = texts.length;
    await until('more arrives', () => texts.length > soFar + 3);
    kept.cancel();

    expect(await error).toMatchObject({ code: 1 });
  });
});
