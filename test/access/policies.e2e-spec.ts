import { beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Scope, type Type } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Authorize, SessionAuthService, type AuthorizationPolicy } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { platforms } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { sharedSample } from '../support/shared-sample.js';
import { CallNotes, NotesCall, NotesCallAgain, Openings, OwnsOpening } from './openings.policies.js';

@Injectable({ scope: Scope.REQUEST })
class NeedsRequest implements AuthorizationPolicy {
  constructor(@Inject(REQUEST) private readonly request: { readonly url: string }) {}

  allows(): boolean {
    return this.request.url.endsWith('own');
  }
}

@Injectable()
class NeedsCall implements AuthorizationPolicy {
  constructor(private readonly notes: CallNotes) {}

  allows(): boolean {
    return (this.notes.request as { readonly url: string }).url.endsWith('own');
  }
}

const ANSWERS: [what: string, answer: () => unknown, status: number][] = [
  ['returns true', () => true, 200],
  ['returns 1', () => 1, 403],
  ['resolves to an object', () => Promise.resolve({}), 403],
  ['rejects', () => Promise.reject(new Error('broken')), 503],
];

@Controller('openings')
@Authorize(OwnsOpening)
class OpeningsController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get()
  list(): string {
    return 'openings';
  }

  @Get('other')
  @Authorize(() => true)
  other(): number {
    return this.sessions.countCached();
  }
}

@Controller('scoped')
class ScopedController {
  @Get('static')
  @Authorize(NotesCall)
  @Authorize(NotesCallAgain)
  list(): string {
    return 'scoped';
  }
}

@Controller('per-request')
class PerRequestController {
  constructor(private readonly notes: CallNotes) {}

  @Get()
  @Authorize(NotesCall)
  number(): number {
    return this.notes.number;
  }
}

/** A controller whose one handler has this policy. */
function guardedBy(policy: Type<AuthorizationPolicy>, path = 'ruled') {
  @Controller(path)
  class RuledController {
    @Get()
    @Authorize(policy)
    ruled(): string {
      return 'in';
    }
  }
  return RuledController;
}

const answering = ANSWERS.map(([, answer]) => {
  @Injectable()
  class AnsweringPolicy implements AuthorizationPolicy {
    allows(): boolean {
      return answer() as boolean;
    }
  }
  return AnsweringPolicy;
});

const pathOf = (what: string): string => what.replaceAll(' ', '-');

describe.each(platforms('Fastify'))('a policy on %s', (_name, platform) => {
  const controllers = [
    ...[OpeningsController, ScopedController, PerRequestController],
    guardedBy(NeedsRequest, 'noted/:whose'),
    guardedBy(NeedsCall, 'needing/:whose'),
    ...answering.map((policy, index) => guardedBy(policy, pathOf(ANSWERS[index]?.[0] ?? ''))),
  ];
  const providers = [
    ...[Openings, OwnsOpening, CallNotes, NotesCall, NotesCallAgain, NeedsRequest, NeedsCall],
    ...answering,
  ];
  const shared = sharedSample({ controllers, providers }, platform);

  beforeEach(() => void NotesCall.noted.splice(0));

  it.each([
    ['ann', 200],
    ['bob', 403],
  ])('has its dependencies, and decides about %s', async (username, status) => {
    expect((await shared.app.get('/openings', shared.service.signInAs({ username }))).status).toBe(status);
  });

  it('is not called for a caller without a valid session', async () => {
    expect((await shared.app.get('/openings')).status).toBe(401);
    expect((await shared.app.get('/scoped/static', 'bad')).status).toBe(401);
    expect(NotesCall.noted).toEqual([]);
  });

  it('of a controller is replaced by the rule of a handler', async () => {
    expect(
      (await shared.app.get('/openings/other', shared.service.signInAs({ username: 'bob' }))).status,
    ).toBe(200);
  });

  it.each(ANSWERS)('that %s results in the right status', async (what, _answer, status) => {
    const reply = await shared.app.get(`/${pathOf(what)}`, shared.service.signInAs({}));
    expect(reply.status).toBe(status);
    expect(await reply.text()).not.toContain('broken');
  });

  it('that is request-scoped is resolved once for each request, with the others of the request', async () => {
    const token = shared.service.signInAs({});
    const ask = async (): Promise<number> => (await shared.app.get('/scoped/static', token)).status;
    expect([await ask(), await ask()]).toEqual([200, 200]);
    const [first, again, second, secondAgain] = NotesCall.noted;
    expect([again?.number, secondAgain?.number]).toEqual([first?.number, second?.number]);
    expect(second?.number).not.toBe(first?.number);
    expect(first?.request).toMatchObject({ url: '/scoped/static' });
  });

  it('that is request-scoped shares its dependencies with a request-scoped controller', async () => {
    const reply = await shared.app.get('/per-request', shared.service.signInAs({}));
    expect(Number(await reply.text())).toBe(NotesCall.noted[0]?.number);
  });

  it.each(['noted', 'needing'])('that is request-scoped is given each call: %s', async (path) => {
    const token = shared.service.signInAs({});
    const ask = async (whose: string) => (await shared.app.get(`/${path}/${whose}`, token)).status;
    expect(await Promise.all([ask('own'), ask('other'), ask('own')])).toEqual([200, 403, 200]);
  });
});

describe('the application does not start', () => {
  const start = (policy: unknown, providers: Type[]): Promise<Error> =>
    bootstrapError(
      sampleApp({
        baseUrl: 'https://sessions.example.com',
        controllers: [guardedBy(policy as Type<AuthorizationPolicy>)],
        providers,
      }),
    );

  it.each<[string, Type, Type[], string]>([
    [
      'that no module provides',
      OwnsOpening,
      [Openings],
      '@Authorize(OwnsOpening) of RuledController.ruled: no module provides the policy. Add OwnsOpening to the providers of SampleRoot.',
    ],
  ])('with a policy %s', async (_what, policy, providers, message) => {
    const error = await start(policy, providers);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toBe(message);
  });
});
