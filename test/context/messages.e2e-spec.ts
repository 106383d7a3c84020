import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  UseGuards,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type INestMicroservice,
  type NestInterceptor,
} from '@nestjs/common';
import {
  GrpcMethod,
  GrpcStreamCall,
  GrpcStreamMethod,
  MessagePattern,
  Payload,
  type ClientProxy,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import { fromPayload, OptionalAuth, Public, SessionAuthGuard } from 'nestjs-session-auth';
import { currentUserOf, sessionContext, SessionContext } from 'nestjs-session-auth/context';
import { concatMap, defer, firstValueFrom, from, map, reduce, toArray, type Observable } from 'rxjs';
import { grpcBed, metadata, speak, textsOf } from '../messages/grpc-bed.js';
import { Runs, startMicroservice, TCP, tcpClientOf } from '../messages/openings.microservice.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

interface Answer {
  readonly text: string;
}

/** Several turns of the event loop. */
async function later(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const nameIn = (session: SessionContext): string => session.findUser()?.username ?? 'anonymous';

/** Answers with the user that it sees, too. */
class SeeingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        map(({ text }: Answer) => ({ text: `${text} ${currentUserOf(context)?.username ?? 'anonymous'}` })),
      );
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
@UseInterceptors(SeeingInterceptor)
class NameMessages {
  constructor(private readonly session: SessionContext) {}

  @MessagePattern('me')
  async me(): Promise<Answer> {
    const before = nameIn(this.session);
    await later();
    return { text: `${before} ${nameIn(this.session)}` };
  }

  @MessagePattern('many')
  many(): Observable<Answer> {
    return defer(() => from([1, 2]).pipe(concatMap(() => defer(() => this.me()))));
  }

  @MessagePattern('greeting')
  @OptionalAuth()
  greeting(): Answer {
    return { text: nameIn(this.session) };
  }

  @MessagePattern('open')
  @Public()
  open(): Answer {
    return { text: nameIn(this.session) };
  }
}

describe('the current user in a message', () => {
  let service: ScriptedService;
  const open: { close(): unknown }[] = [];
  const bed = testbed();

  beforeEach(async () => {
    service = await startScriptedService();
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
    await service.close();
  });

  const options = { plugins: [sessionContext], token: fromPayload('token') };

  function clientOf(microservice: INestMicroservice): ClientProxy {
    const client = tcpClientOf(microservice);
    open.unshift(client);
    return client;
  }

  async function start(): Promise<ClientProxy> {
    const app = await startMicroservice({ baseUrl: service.url, options }, NameMessages, new Runs(), TCP);
    open.push(app);
    return clientOf(app);
  }

  const all = (client: ClientProxy, pattern: string, payload: object): Promise<Answer[]> =>
    firstValueFrom(client.send<Answer>(pattern, payload).pipe(toArray()));

  it('is available in its handler, in the Observable that it returns, and in interceptors', async () => {
    const client = await start();
    const token = service.signInAs({}, 'good');
    expect(await all(client, 'me', { token })).toEqual([{ text: 'ann ann ann' }]);
    expect(await all(client, 'many', { token })).toEqual([{ text: 'ann ann ann' }, { text: 'ann ann ann' }]);
  });

  it('is absent without a session, and in a public handler', async () => {
    const client = await start();
    const token = service.signInAs({}, 'good');
    expect(await all(client, 'greeting', { token })).toEqual([{ text: 'ann ann' }]);
    expect(await all(client, 'greeting', {})).toEqual([{ text: 'anonymous anonymous' }]);
    expect(await all(client, 'open', { token })).toEqual([{ text: 'anonymous anonymous' }]);
  });

  it('belongs to each message of one connection', async () => {
    const client = await start();
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`);
    const answers = names.map((username) =>
      all(client, 'me', { token: service.signInAs({ username }, username) }),
    );
    expect(await Promise.all(answers)).toEqual(names.map((name) => [{ text: `${name} ${name} ${name}` }]));
  });

  it('is available in a hybrid application, whose microservice has no global interceptors', async () => {
    @Controller()
    @UseGuards(SessionAuthGuard)
    class HybridController {
      constructor(private readonly session: SessionContext) {}

      @Get('name')
      @MessagePattern('name')
      async name(): Promise<string> {
        await later();
        return nameIn(this.session);
      }
    }
    const options = { plugins: [sessionContext], token: [fromPayload('token')] };
    const root = sampleApp({ baseUrl: service.url, options, controllers: [HybridController] });
    const { app } = await bed.app(root);
    const microservice = app.connectMicroservice<MicroserviceOptions>(TCP);
    await app.startAllMicroservices();
    const client = clientOf(microservice);
    expect(await firstValueFrom(client.send('name', { token: service.signInAs({}, 'good') }))).toBe('ann');
  });
});

/** A call that a handler of gRPC answers itself. */
interface PassedCall {
  write(answer: Answer): void;
  end(): void;
}

@Controller()
@UseGuards(SessionAuthGuard)
class NameProcedures {
  constructor(private readonly session: SessionContext) {}

  @GrpcMethod('Openings', 'Me')
  async me(): Promise<Answer> {
    await later();
    return { text: `${nameIn(this.session)} ${this.session.token}` };
  }

  @GrpcMethod('Openings', 'Greeting')
  @OptionalAuth()
  greeting(): Answer {
    return { text: nameIn(this.session) };
  }

  @GrpcMethod('Openings', 'Ticks')
  ticks(): Observable<Answer> {
    return defer(() => from([1, 2]).pipe(concatMap(() => later()))).pipe(
      map(() => ({ text: nameIn(this.session) })),
    );
  }

  @GrpcStreamMethod('Openings', 'Chat')
  chat(@Payload() questions: Observable<{ about: string }>): Observable<Answer> {
    return questions.pipe(map(({ about }) => ({ text: `${nameIn(this.session)} ${about}` })));
  }

  @GrpcStreamMethod('Openings', 'Converse')
  async converse(@Payload() questions: Observable<{ about: string }>): Promise<Observable<Answer>> {
    const text = await new Promise<string>((resolve) => {
      questions.subscribe(({ about }) => resolve(`${nameIn(this.session)} ${about}`));
    });
    return from([text]).pipe(map((first) => ({ text: `${first} ${nameIn(this.session)}` })));
  }

  @GrpcStreamMethod('Openings', 'Sum')
  sum(@Payload() questions: Observable<{ about: string }>): Observable<Answer> {
    return questions.pipe(
      reduce((sum, { about }) => sum + Number(about), 0),
      map((sum) => ({ text: `${nameIn(this.session)} ${sum}` })),
    );
  }

  @GrpcStreamCall('Openings', 'Through')
  through(call: PassedCall): void {
    call.write({ text: nameIn(this.session) });
    call.end();
  }
}

describe('the current user in a call of gRPC', () => {
  const bed = grpcBed();
  const presented = () => metadata(bed.service.signInAs({}, 'good'));

  beforeEach(() => bed.start({ plugins: [sessionContext] }, { controller: NameProcedures }));

  it('is available in its handler, and absent without a session', async () => {
    expect(await bed.ask('Me', {}, presented())).toEqual({ text: 'ann good' });
    expect(await bed.ask('Greeting', {}, presented())).toEqual({ text: 'ann' });
    expect(await bed.ask('Greeting', {}, metadata())).toEqual({ text: 'anonymous' });
  });

  it('is available in a stream of answers', async () => {
    expect(await textsOf(bed.client.Ticks({}, presented()))).toEqual(['ann', 'ann']);
  });

  it('is available for each message of a request stream', async () => {
    expect(await textsOf(speak(bed.client.Chat(presented()), 3))).toEqual(['ann 1', 'ann 2', 'ann 3']);
    expect(await bed.gather('Sum', presented(), 3)).toEqual({ text: 'ann 6' });
  });

  it('is available for messages that arrive one by one', async () => {
    const call = bed.client.Chat(presented());
    const texts: string[] = [];
    call.write({ about: '1' });
    for await (const { text } of call) {
      texts.push(text);
      if (texts.length < 3) call.write({ about: String(texts.length + 1) });
      else call.end();
    }
    expect(texts).toEqual(['ann 1', 'ann 2', 'ann 3']);
  });

  it('is available in a handler that reads the request stream before it answers', async () => {
    expect(await textsOf(speak(bed.client.Converse(presented()), 1))).toEqual(['ann 1 ann']);
  });

  it('is available in a handler that receives the call object', async () => {
    expect(await textsOf(speak(bed.client.Through(presented()), 1))).toEqual(['ann']);
  });
});
