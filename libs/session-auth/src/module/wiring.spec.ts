import { SESSION_REJECTED } from '../contract/denials.js';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Logger,
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { SessionAuthDecision } from '../guard/decision-reports.js';
import { Authorize, OptionalAuth, Roles } from '../guard/access.decorators.js';
import { GUARD_REGISTRATION, type GuardRegistration } from '../guard/guard-registration.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import type { SessionAuthOptions } from './options/options.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SessionAuthModule } from './session-auth.module.js';
import { REGISTRATION, type Registration } from './wiring.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

@Module({})
class Root {}

@Controller()
class Contradicting implements OnModuleInit {
  /** After the modules that its module imports. */
  onModuleInit(): void {
    linesAtInit = [...lines];
  }

  @Get()
  @OptionalAuth()
  @Roles('admin')
  list(): string {
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

/** Starts an application, and returns the providers of its registration. */
async function start(
  options: Partial<SessionAuthOptions> = {},
  { controllers = [], providers = [] }: { readonly controllers?: Type[]; readonly providers?: Type[] } = {},
) {
  const imports: DynamicModule[] = [SessionAuthModule.forRoot({ ...OPTIONS, ...options })];
  context = await NestFactory.createApplicationContext(
    { module: Root, imports, controllers, providers },
    { logger: false, abortOnError: false },
  );
  const module = [...context.get(ModulesContainer).values()].find(({ providers }) =>
    providers.has(REGISTRATION),
  );
  const find = <Part>(token: abstract new (...values: never[]) => Part): Part =>
    module?.providers.get(token)?.instance as Part;
  const parts = module?.providers.get(GUARD_REGISTRATION)?.instance as GuardRegistration;
  return { find, parts, all: module?.providers.get(REGISTRATION)?.instance as Registration };
}

describe('the guard of a registration', () => {
  it('has its verifier, its token sources and the limits of its options', async () => {
    const { all, parts } = await start({ http: { maxTokenLength: 5 } });
    expect([parts.verifier, parts.ends]).toEqual([all.verifier, all.events]);
    const headers = { 'x-auth-token': 'token', 'x-auth-iv': 'iv' };
    expect(parts.reader.read(new ExecutionContextHost([]), { headers })).toEqual({
      token: 'token',
      authIv: 'iv',
    });
    expect(parts.reader.read(new ExecutionContextHost([]), { headers: { 'x-auth-token': '123456' } })).toBe(
      SESSION_REJECTED,
    );
  });

  it('leaves out the X-AUTH-IV with forwardAuthIv: false', async () => {
    const { parts } = await start({ forwardAuthIv: false });
    const headers = { 'x-auth-token': 'token', 'x-auth-iv': 'iv' };
    expect(parts.reader.read(new ExecutionContextHost([]), { headers })).toEqual({
      token: 'token',
      authIv: undefined,
    });
  });

  it('emits its decisions', async () => {
    const { all, parts } = await start();
    const decisions: SessionAuthDecision[] = [];
    all.events.decisions.subscribe((decision) => decisions.push(decision));
    parts.decisions.allowed(contextOf(Contradicting), { username: 'ann' });
    expect(decisions).toEqual([expect.objectContaining({ isAllowed: true, controller: 'Contradicting' })]);
  });
});

describe('a policy of the application', () => {
  @Injectable()
  class IsAdmin {
    allows({ role }: { readonly role?: string }): boolean {
      return role === 'admin';
    }
  }
  @Controller()
  class Policed {
    @Get()
    @Authorize(IsAdmin)
    list(): string {
      return 'list';
    }
  }

  it('decides in the guard', async () => {
    const { parts } = await start({}, { controllers: [Policed], providers: [IsAdmin] });
    const method = Object.getOwnPropertyDescriptor(Policed.prototype, 'list')?.value as () => string;
    const call = new ExecutionContextHost([{ headers: {} }, {}], Policed, method);
    const { requirements } = parts.rules.of(call) as unknown as {
      requirements: { isMet: (call: object) => unknown }[];
    };
    expect(
      ['admin', 'boss'].map((role) => requirements.map(({ isMet }) => isMet({ user: { role } }))),
    ).toEqual([[true], [false]]);
  });
});

function contextOf(owner: Type): ExecutionContextHost {
  const host = new ExecutionContextHost([{ headers: {} }, {}], owner, () => undefined);
  host.setType('http');
  return host;
}

describe('the service of a registration', () => {
  it('has the limits of its options', async () => {
    const { find } = await start({ http: { maxTokenLength: 5 }, maxSignIns: 1, signOutTimeoutMs: 60_000 });
    const service = find(SessionAuthService);
    await expect(service.verify('123456')).rejects.toMatchObject({ code: 'SESSION_REJECTED' });
    const calls = [1, 2].map(() =>
      service.signOut('token').catch((error: unknown) => (error as { reason?: string }).reason),
    );
    expect(await Promise.all(calls)).toEqual(['unreachable', 'busy']);
    expect(lines).toContainEqual(
      expect.stringMatching(/^service unreachable: sign-outs get 503: .* failed with ECONNREFUSED\. /),
    );
  });
});

describe('the events of a registration', () => {
  it('log a subscriber to decisions that fails', async () => {
    const { find, parts } = await start();
    find(SessionAuthEvents).decisions$.subscribe(() => {
      throw new Error('fault');
    });
    parts.decisions.allowed(contextOf(Contradicting), { username: 'ann' });
    expect(lines).toEqual([expect.stringMatching(/^event subscriber failed: /)]);
  });
});

describe('the causes that the parts of a registration report', () => {
  it('are logged, and part of its status', async () => {
    const { find, parts } = await start();
    parts.causes.occurred('unprotected socket', 'socket.io', 'an open socket.io socket was disconnected');
    expect(lines).toEqual([expect.stringMatching(/^unprotected socket: an open socket\.io socket was /)]);
    expect(find(SessionAuthEvents).serviceStatus.causes).toMatchObject([{ cause: 'unprotected socket' }]);
  });
});

describe('the audit of a registration', () => {
  it.each<[SessionAuthOptions['audit'], number]>([
    ['warn', 1],
    ['off', 0],
  ])('runs by its option when the modules are initialized: %s', async (audit, count) => {
    await start({ ...(audit && { audit }) }, { controllers: [Contradicting] });
    expect(linesAtInit).toEqual([]);
    expect(lines).toEqual(
      Array(count).fill(expect.stringMatching(/^audit: Contradicting\.list has @OptionalAuth\(\)/)),
    );
  });
});
