import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Controller,
  Get,
  HttpException,
  Injectable,
  InternalServerErrorException,
  NotFoundException,
  Scope,
} from '@nestjs/common';
import { GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { ClientProxyFactory, MessagePattern, Transport, type ClientProxy } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  Authorize,
  fromHeader,
  fromPayload,
  SessionAuthEvents,
  type AuthorizationPolicy,
  type SessionAuthDecision,
} from 'nestjs-session-auth';
import { AccessCheckFailedError, SessionServiceUnavailableError } from 'nestjs-session-auth/errors';
import { firstValueFrom, type Subscription } from 'rxjs';
import { postGraphql, type GraphqlReply } from '../graphql/graphql-client.js';
import { SOCKET_IO } from '../sockets/peers.js';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService, type ScriptedService } from '../support/scripted-service.js';
import { freePort } from '../support/server-process.js';

/** In the message of every error here: it must not reach a caller, nor the log. */
const SECRET = 'postgres://app:hunter2@db';
const PATIENT_MS = 30_000;
class DatabaseError extends Error {}

let rule: () => unknown = () => true;
let ran = 0;

@Injectable()
class FailingPolicy implements AuthorizationPolicy {
  allows(): boolean {
    return rule() as boolean;
  }
}

/** Resolved for each call. */
@Injectable({ scope: Scope.TRANSIENT })
class ScopedPolicy implements AuthorizationPolicy {
  allows(): boolean {
    return rule() as boolean;
  }
}

const run = (): string => {
  ran += 1;
  return 'in';
};

@Controller()
class OpeningsController {
  @Get('openings')
  @Authorize(FailingPolicy)
  list(): string {
    return run();
  }

  @Get('scoped')
  @Authorize(ScopedPolicy)
  scoped(): string {
    return run();
  }

  @Get('inline')
  @Authorize(() => rule() as boolean)
  inline(): string {
    return run();
  }

  @MessagePattern('openings')
  @Authorize(FailingPolicy)
  message(): string {
    return run();
  }
}

@Resolver()
class OpeningsResolver {
  @Query(() => String)
  @Authorize(FailingPolicy)
  openings(): string {
    return run();
  }
}

@WebSocketGateway()
class OpeningsGateway {
  @SubscribeMessage('openings')
  @Authorize(FailingPolicy)
  message(): { event: string; data: string } {
    return { event: 'openings', data: run() };
  }
}

/** The answer to a call, as its client receives it. */
interface Answer {
  readonly statusCode?: number;
  readonly code?: string;
  readonly message?: string;
  readonly retryAfterSeconds?: number;
}

type Call = (app: RunningApp, port: number, token: string) => Promise<Answer>;

const over =
  (path: string): Call =>
  async (app, _port, token) => {
    const reply = await app.get(path, token);
    return reply.ok ? {} : ((await reply.json()) as Answer);
  };

const overGraphql: Call = async (app, _port, token) => {
  const { errors } = (await (
    await postGraphql(app.url, { query: '{ openings }' }, token)
  ).json()) as GraphqlReply;
  return (errors?.[0]?.extensions as { readonly originalError?: Answer } | undefined)?.originalError ?? {};
};

const overSocket: Call = async (app, _port, token) => {
  const peer = await SOCKET_IO[2](app.url, { headers: { 'x-auth-token': token } });
  const [, data] = await peer.ask('openings');
  await peer.close();
  return data as Answer;
};

const overMessages: Call = async (_app, port, token) => {
  const client: ClientProxy = ClientProxyFactory.create({
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
  });
  try {
    return await firstValueFrom(client.send<Answer>('openings', { token })).catch(
      (error: unknown) => error as Answer,
    );
  } finally {
    client.close();
  }
};

const KINDS: [kind: string, call: Call, handler: string][] = [
  ['a controller', over('/openings'), 'OpeningsController.list'],
  ['a controller with a scoped policy', over('/scoped'), 'OpeningsController.scoped'],
  ['a controller with a function', over('/inline'), 'OpeningsController.inline'],
  ['a resolver', overGraphql, 'OpeningsResolver.openings'],
  ['a gateway', overSocket, 'OpeningsGateway.message'],
  ['a message handler', overMessages, 'OpeningsController.message'],
];

const raise = (error: unknown): never => {
  throw error;
};

/** Ways in which a rule fails, and what the log says of each. */
const FAILURES: [what: string, fails: () => unknown, logged: string][] = [
  ['throws', () => raise(new DatabaseError(SECRET)), 'failed with DatabaseError'],
  ['rejects', () => Promise.reject(new DatabaseError(SECRET)), 'failed with DatabaseError'],
  ['throws no error', () => raise(SECRET), 'failed with String'],
  [
    'rejects with nothing',
    () => Promise.resolve().then(() => raise(undefined)),
    'failed with an error of an unnamed class',
  ],
  [
    'throws an exception of 500',
    () => raise(new InternalServerErrorException()),
    'failed with InternalServerErrorException',
  ],
  ['never settles', () => new Promise(() => undefined), 'took longer than timeoutMs'],
];

class HiddenException extends HttpException {
  constructor() {
    super({ statusCode: 404, code: 'NO_SUCH_OPENING', message: 'There is no such opening' }, 404);
  }
}

/** Answers that a rule gives itself. */
const ANSWERS: [what: string, exception: () => unknown, answer: Answer][] = [
  [
    'throws a NotFoundException',
    () => raise(new NotFoundException('Nothing here')),
    { statusCode: 404, message: 'Nothing here' },
  ],
  [
    'rejects with an exception of the application',
    () => Promise.reject(new HiddenException()),
    { statusCode: 404, code: 'NO_SUCH_OPENING', message: 'There is no such opening' },
  ],
];

describe.each(PLATFORMS)('a rule of an application on %s', (_name, platform) => {
  let service: ScriptedService;
  let app: RunningApp;
  let port: number;
  let log: CapturedLog;
  let decisions: SessionAuthDecision[];
  let subscription: Subscription;
  const strays: unknown[] = [];
  const note = (reason: unknown): void => void strays.push(reason);

  beforeAll(() => void process.on('unhandledRejection', note));
  afterAll(() => void process.off('unhandledRejection', note));
  const start = async (timeoutMs: number): Promise<void> => {
    [service, port] = await Promise.all([startScriptedService(), freePort()]);
    log = new CapturedLog();
    decisions = [];
    ran = 0;
    const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({
      driver: ApolloDriver,
      autoSchemaFile: true,
      graphiql: false,
    });
    const root = sampleApp({
      baseUrl: service.url,
      options: { token: [fromHeader('x-auth-token'), fromPayload('token')], timeoutMs },
      controllers: [OpeningsController],
      providers: [OpeningsResolver, OpeningsGateway, FailingPolicy, ScopedPolicy],
      imports: [graphql],
    });
    app = await startApp(platform, root, {
      logger: log,
      configure: (nest) => void nest.useWebSocketAdapter(SOCKET_IO[1](nest)),
    });
    app.app.connectMicroservice({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
    await app.app.startAllMicroservices();
    subscription = app.app
      .get(SessionAuthEvents)
      .decisions$.subscribe((decision) => void decisions.push(decision));
  };
  afterEach(async () => {
    subscription.unsubscribe();
    await app.close();
    await service.close();
    expect(strays).toEqual([]);
  });

  const cases = KINDS.flatMap(([kind, call, handler]) => {
    const failures =
      kind === 'a controller'
        ? FAILURES
        : FAILURES.filter(([what]) => ['rejects', 'never settles'].includes(what));
    return failures.map(([what, fails, logged]) => ({ kind, call, handler, what, fails, logged }));
  });

  it.each(cases)(
    'that $what denies a call of $kind with 503, and one log line has handler, rule and class [P34]',
    async (failing) => {
      const { call, handler, fails, logged, what } = failing;
      await start(what === 'never settles' ? 1_500 : PATIENT_MS);
      const token = service.signInAs({});
      rule = fails;
      const answers = await Promise.all([call(app, port, token), call(app, port, token)]);

      const isOwn = what.includes('exception of 500');
      for (const answer of answers) {
        expect(answer).toMatchObject(
          isOwn
            ? { statusCode: 500 }
            : { statusCode: 503, code: 'ACCESS_CHECK_FAILED', retryAfterSeconds: 5 },
        );
      }
      expect(JSON.stringify(answers)).not.toContain(SECRET);
      const lines = log.having('warn', 'rule failed');
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(new RegExp(`@Authorize\\(\\w+\\) of ${handler} ${logged}\\.`));
      expect(log.lines.join('\n')).not.toContain(SECRET);
      expect(decisions).toMatchObject(
        answers.map(() => ({ isAllowed: false, outcome: 'unavailable', code: 'ACCESS_CHECK_FAILED' })),
      );

      rule = () => true;
      await call(app, port, token);
      expect(ran).toBe(1);
    },
  );

  const answering = KINDS.flatMap(([kind, call]) =>
    ANSWERS.map(([what, throws, answer]) => ({ kind, call, what, throws, answer })),
  );

  it.each(answering)(
    'that $what answers a call of $kind itself, in the form of the context, without a log line [P34]',
    async (own) => {
      await start(PATIENT_MS);
      rule = own.throws;
      expect(await own.call(app, port, service.signInAs({}))).toMatchObject(own.answer);
      expect(ran).toBe(0);
      expect(log.having('warn', 'rule failed')).toEqual([]);
      expect(decisions).toMatchObject([{ isAllowed: false, outcome: 'forbidden', code: 'ACCESS_DENIED' }]);
    },
  );

  it('that calls the session service in an outage passes its error on, with Retry-After [P34]', async () => {
    await start(PATIENT_MS);
    const token = service.signInAs({});
    rule = () => raise(new SessionServiceUnavailableError({ reason: 'timeout', retryAfterSeconds: 9 }));
    const reply = await app.get('/openings', token);
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '9']);
    expect(await reply.json()).toMatchObject({ code: 'SESSION_SERVICE_UNAVAILABLE', retryAfterSeconds: 9 });
  });

  it('that fails is answered over HTTP with Retry-After, and kept out of caches [P34]', async () => {
    await start(PATIENT_MS);
    rule = () => raise(new DatabaseError(SECRET));
    const { status, headers } = await app.get('/openings', service.signInAs({}));
    expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([
      503,
      '5',
      'no-store',
    ]);
    expect(new AccessCheckFailedError()).toMatchObject({
      statusCode: 503,
      code: 'ACCESS_CHECK_FAILED',
      retryAfterSeconds: 5,
    });
  });
});
