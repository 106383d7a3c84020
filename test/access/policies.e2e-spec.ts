import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Inject, Injectable, Scope, type Type } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Authorize, type AuthorizationPolicy } from 'nestjs-session-auth';
import { platforms } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';
import { CallNotes, NotesCall, Openings, OwnsOpening } from './openings.policies.js';

@Injectable({ scope: Scope.REQUEST })
class NeedsRequest implements AuthorizationPolicy {
  constructor(@Inject(REQUEST) private readonly request: { readonly url: string }) {}

  allows(): boolean {
    return this.request.url.endsWith('own');
  }
}

const ANSWERS: [what: string, answer: () => unknown, status: number][] = [
  ['returns true', () => true, 200],
  ['resolves to an object', () => Promise.resolve({}), 403],
  ['rejects', () => Promise.reject(new Error('broken')), 503],
];

@Controller('openings')
@Authorize(OwnsOpening)
class OpeningsController {
  @Get() list(): string {
    return 'openings';
  }
}

@Controller('per-request')
class PerRequestController {
  constructor(private readonly notes: CallNotes) {}

  @Get() @Authorize(NotesCall) number(): number {
    return this.notes.number;
  }
}

/** A controller whose one handler has this policy. */
function guardedBy(policy: Type<AuthorizationPolicy>, path: string) {
  @Controller(path)
  class RuledController {
    @Get() @Authorize(policy) ruled(): string {
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
    ...[OpeningsController, PerRequestController],
    guardedBy(NeedsRequest, 'noted/:whose'),
    ...answering.map((policy, index) => guardedBy(policy, pathOf(ANSWERS[index]?.[0] ?? ''))),
  ];
  const providers = [...[Openings, OwnsOpening, CallNotes, NotesCall, NeedsRequest], ...answering];
  const shared = sharedSample({ controllers, providers }, platform);

  it.each([
    ['ann', 200],
    ['bob', 403],
  ])('has its dependencies, and decides about %s', async (username, status) => {
    expect((await shared.app.get('/openings', shared.service.signInAs({ username }))).status).toBe(status);
  });

  it.each(ANSWERS)('that %s results in the right status', async (what, _answer, status) => {
    const reply = await shared.app.get(`/${pathOf(what)}`, shared.service.signInAs({}));
    expect(reply.status).toBe(status);
    expect(await reply.text()).not.toContain('broken');
  });

  it('that is request-scoped shares its dependencies with a request-scoped controller', async () => {
    const reply = await shared.app.get('/per-request', shared.service.signInAs({}));
    expect(Number(await reply.text())).toBe(NotesCall.noted.at(-1)?.number);
  });

  it('that is request-scoped is given each call', async () => {
    const token = shared.service.signInAs({});
    const ask = async (whose: string) => (await shared.app.get(`/noted/${whose}`, token)).status;
    expect(await Promise.all([ask('own'), ask('other'), ask('own')])).toEqual([200, 403, 200]);
  });
});
