import { Controller, UseGuards, type INestMicroservice, type LoggerService, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ClientProxyFactory,
  EventPattern,
  GrpcMethod,
  GrpcStreamCall,
  GrpcStreamMethod,
  MessagePattern,
  Payload,
  Transport,
  type ClientProxy,
  type MicroserviceOptions,
} from '@nestjs/microservices';
import type { AddressInfo, Server } from 'node:net';
import {
  AuthIv,
  AuthToken,
  CurrentUser,
  OptionalAuth,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthService,
  type UserRecord,
} from 'nestjs-session-auth';
import { from, map, reduce, ReplaySubject, type Observable } from 'rxjs';
import { sampleApp, type SampleApp } from '../support/sample-app.js';

/** How often a guarded handler ran. */
export class Runs {
  count = 0;
}

interface Answer {
  readonly text: string;
}

/** A call that a handler of gRPC answers itself. */
interface PassedCall {
  write(answer: Answer): void;
  end(): void;
}

@Controller()
@UseGuards(SessionAuthGuard)
export class OpeningsMessages {
  constructor(
    private readonly sessions: SessionAuthService,
    private readonly runs: Runs,
  ) {}

  @MessagePattern('sign-out')
  @Public()
  signOut(): Promise<void> {
    return this.sessions.signOut('some-token');
  }

  @MessagePattern('me')
  me(@CurrentUser() user: UserRecord, @AuthToken() token: string): Answer {
    this.runs.count += 1;
    return { text: `${user.username} ${token}` };
  }

  @MessagePattern('secrets')
  @Roles('hiring_manager')
  secrets(): Answer {
    this.runs.count += 1;
    return { text: 'secret' };
  }

  @MessagePattern('greeting')
  @OptionalAuth()
  greeting(@CurrentUser('username') username: string | undefined): Answer {
    return { text: `hello ${username ?? 'stranger'}` };
  }

  @EventPattern('happened')
  happened(@Payload('times') times: number): void {
    this.runs.count += times;
  }
}

@Controller()
@UseGuards(SessionAuthGuard)
export class OpeningsProcedures {
  constructor(private readonly runs: Runs) {}

  @GrpcMethod('Openings', 'Me')
  me(@CurrentUser() user: UserRecord, @AuthToken() token: string, @AuthIv() iv?: string): Answer {
    this.runs.count += 1;
    return { text: [user.username, token, ...(iv === undefined ? [] : [iv])].join(' ') };
  }

  @GrpcMethod('Openings', 'Secrets')
  @Roles('hiring_manager')
  secrets(): Answer {
    this.runs.count += 1;
    return { text: 'secret' };
  }

  @GrpcMethod('Openings', 'Greeting')
  @OptionalAuth()
  greeting(@CurrentUser('username') username: string | undefined): Answer {
    return { text: `hello ${username ?? 'stranger'}` };
  }

  @GrpcMethod('Openings', 'Ticks')
  ticks(@CurrentUser('username') username = ''): Observable<Answer> {
    this.runs.count += 1;
    return from([1, 2]).pipe(map((tick) => ({ text: `${username} ${tick}` })));
  }

  @GrpcStreamMethod('Openings', 'Chat')
  chat(
    @Payload() questions: Observable<{ about: string }>,
    @CurrentUser('username') username = '',
  ): Observable<Answer> {
    this.runs.count += 1;
    return questions.pipe(map(({ about }) => ({ text: `${username} ${about}` })));
  }

  /** Reads the stream itself, before it has anything to answer with. */
  @GrpcStreamMethod('Openings', 'Converse')
  async converse(@Payload() questions: Observable<{ about: string }>): Promise<Observable<Answer>> {
    this.runs.count += 1;
    const questionsSoFar = new ReplaySubject<{ about: string }>();
    await new Promise((resolve) => {
      questions.subscribe((question) => {
        questionsSoFar.next(question);
        resolve(question);
      });
    });
    questionsSoFar.complete();
    return questionsSoFar.pipe(map(({ about }) => ({ text: `first ${about}` })));
  }

  @GrpcStreamMethod('Openings', 'Sum')
  sum(
    @Payload() questions: Observable<{ about: string }>,
    @CurrentUser('username') username = '',
  ): Observable<Answer> {
    this.runs.count += 1;
    return questions.pipe(
      reduce((sum, { about }) => sum + Number(about), 0),
      map((sum) => ({ text: `${username} ${sum}` })),
    );
  }

  @GrpcStreamCall('Openings', 'Through')
  through(call: PassedCall): void {
    this.runs.count += 1;
    call.write({ text: 'through' });
    call.end();
  }

  @GrpcStreamCall('Openings', 'Gather')
  gather(_call: PassedCall, answer: (error: Error | null, answer: Answer) => void): void {
    this.runs.count += 1;
    answer(null, { text: 'gathered' });
  }
}

const HOST = '127.0.0.1';

export const TCP: MicroserviceOptions = { transport: Transport.TCP, options: { host: HOST, port: 0 } };

/** A client of what listens with the options {@link TCP}. */
export function tcpClientOf(listening: Pick<INestMicroservice, 'unwrap'>): ClientProxy {
  const { port } = listening.unwrap<Server>().address() as AddressInfo;
  return ClientProxyFactory.create({ transport: Transport.TCP, options: { host: HOST, port } });
}

export async function startMicroservice(
  sample: SampleApp,
  controller: Type,
  runs: Runs,
  options: MicroserviceOptions,
  logger?: LoggerService,
): Promise<INestMicroservice> {
  const providers = [{ provide: Runs, useValue: runs }];
  const root = sampleApp({ ...sample, controllers: [controller], providers });
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(root, {
    ...options,
    logger: logger ?? false,
    abortOnError: false,
  });
  await app.listen();
  return app;
}
