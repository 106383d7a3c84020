import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  CurrentSession,
  type PresentedSession,
  Public,
  Roles,
  SessionAuthModule,
  SessionAuthService,
} from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { EXPRESS, startApp, type RunningApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { startScriptedService } from '../support/scripted-service.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

@Module({})
class Root {}

@Injectable()
class WithoutMethod {}

/** The message with which an application does not start. */
async function failureOf(imports: () => DynamicModule[]): Promise<unknown> {
  const log = new CapturedLog();
  try {
    const root = { module: Root, imports: imports() };
    await (await NestFactory.createApplicationContext(root, { logger: log, abortOnError: false })).close();
    return 'started';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('an error at the start says what is wrong:', () => {
  it.each<[string, () => DynamicModule[], RegExp]>([
    [
      'forRoot() without an argument',
      () => [SessionAuthModule.forRoot(undefined as never)],
      /^SessionAuthModule has no options\. Write SessionAuthModule\.forRoot\(\{ baseUrl, apiKey \}\)\.$/,
    ],
    [
      'forRootAsync() without an argument',
      () => [SessionAuthModule.forRootAsync(undefined as never)],
      /^SessionAuthModule has no options\. Write SessionAuthModule\.forRootAsync\(\{ useFactory \}\)\.$/,
    ],
    [
      'a useClass without its method',
      () => [SessionAuthModule.forRootAsync({ useClass: WithoutMethod as never })],
      /^SessionAuthModule: WithoutMethod has no createSessionAuthOptions\(\)\. Add the method, which returns \{ baseUrl, apiKey \}\.$/,
    ],
  ])('%s', async (_what, imports, message) => {
    expect(await failureOf(imports)).toMatch(message);
  });

  it('an application without GraphQL reads nothing of it in its log', async () => {
    const log = new CapturedLog();
    const root = { module: Root, imports: [SessionAuthModule.forRoot(OPTIONS)] };
    const context = await NestFactory.createApplicationContext(root, { logger: log });
    await context.close();
    expect(log.lines.filter((line) => /graphql/i.test(line))).toEqual([]);
  });
});

@Controller()
class QueueController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('queued')
  @Roles('approver')
  queued(@CurrentSession() session: PresentedSession): unknown {
    return this.sessions.verify(JSON.parse(JSON.stringify(session)) as PresentedSession);
  }

  @Get('open')
  @Public()
  open(): string {
    return 'open';
  }
}

describe('a session that went through JSON', () => {
  let app: RunningApp | undefined;
  afterEach(() => app?.close());

  it('has an error of its own, which says what to store instead [P43]', async () => {
    const service = await startScriptedService();
    try {
      app = await startApp(EXPRESS, sampleApp({ baseUrl: service.url, controllers: [QueueController] }));
      const token = service.signInAs({ username: 'ann', role: 'approver' });
      const reply = await app.get('/queued', token);
      expect([reply.status, await reply.json()]).toMatchObject([
        400,
        {
          code: 'INVALID_REQUEST',
          message: expect.stringMatching(
            /^The session has no token: JSON and copies do not keep it\. Store session\.token and session\.authIv/,
          ),
        },
      ]);
    } finally {
      await service.close();
    }
  });
});
