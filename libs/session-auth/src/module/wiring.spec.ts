import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Get,
  Logger,
  Module,
  type INestApplicationContext,
  type OnModuleInit,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OptionalAuth, Roles } from '../guard/access.decorators.js';
import type { SessionAuthOptions } from './options/options.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SessionAuthModule } from './session-auth.module.js';

@Module({})
class Root {}

@Controller()
class Contradicting implements OnModuleInit {
  /** After the modules that its module imports. */
  onModuleInit(): void {
    linesAtInit = [...lines];
  }

  @Get() @OptionalAuth() @Roles('admin') list(): string {
    return 'list';
  }
}

let lines: string[];
let linesAtInit: string[] | undefined;
let context: INestApplicationContext | undefined;
beforeEach(() => {
  [lines, linesAtInit] = [[], undefined];
  jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(String(line)));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await context?.close();
  context = undefined;
});

async function start(options: Partial<SessionAuthOptions>): Promise<SessionAuthService> {
  const imports = [SessionAuthModule.forRoot({ baseUrl: 'http://127.0.0.1:9', apiKey: 'key', ...options })];
  const root = { module: Root, imports, controllers: [Contradicting] };
  context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  return context.get(SessionAuthService);
}

it('the service of a registration has the limits of its options', async () => {
  const limits = { http: { maxTokenLength: 5 }, maxSignIns: 1, signOutTimeoutMs: 60_000 };
  const service = await start(limits);
  await expect(service.verify('123456')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
  const reasonOf = (error: unknown): unknown => (error as { reason?: string }).reason;
  const calls = [1, 2].map(() => service.signOut('token').catch(reasonOf));
  expect(await Promise.all(calls)).toEqual(['unreachable', 'busy']);
});

it.each<[NonNullable<SessionAuthOptions['audit']>, number]>([
  ['warn', 1],
  ['off', 0],
])(
  'the audit of a registration runs by its option when the modules are initialized: %s',
  async (audit, count) => {
    await start({ audit });
    expect(linesAtInit).toEqual([]);
    const line: unknown = expect.stringMatching(/^audit: Contradicting\.list has @OptionalAuth\(\)/);
    expect(lines).toEqual(Array(count).fill(line));
  },
);
