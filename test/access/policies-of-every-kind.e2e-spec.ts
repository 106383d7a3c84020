import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  applyDecorators,
  Controller,
  Get,
  Inject,
  Injectable,
  Scope,
  type ExecutionContext,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Authorize, type AuthorizationPolicy, type UserRecord } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import {
  denialOver,
  openingsWith,
  overGraphql,
  overHttp,
  overMessages,
  overSocket,
  startEveryKind,
  type Call,
  type EveryKind,
} from './every-kind.js';

/** A dependency of policies: who owns an opening. */
@Injectable()
class Openings {
  owns(user: UserRecord): boolean {
    return user.username === 'ann';
  }
}

@Injectable()
class OwnsOpening implements AuthorizationPolicy {
  constructor(private readonly openings: Openings) {}

  allows(user: UserRecord): boolean {
    return this.openings.owns(user);
  }
}

/** One for each call; numbers its calls. */
@Injectable({ scope: Scope.REQUEST })
class CallNotes {
  static count = 0;
  readonly number = (CallNotes.count += 1);

  constructor(@Inject(REQUEST) readonly request: object | undefined) {}
}

/** A request-scoped policy, by its dependency. Records its arguments. */
@Injectable()
class NotesCall implements AuthorizationPolicy {
  static readonly noted: { readonly number: number; readonly request: object | undefined }[] = [];

  constructor(
    private readonly notes: CallNotes,
    private readonly openings: Openings,
  ) {}

  allows(user: UserRecord, context: ExecutionContext): Promise<boolean> {
    NotesCall.noted.push({ number: this.notes.number, request: this.notes.request });
    return Promise.resolve(this.openings.owns(user) && context.getHandler().name !== '');
  }
}

@Injectable({ scope: Scope.REQUEST })
class NotesCallAgain extends NotesCall {}

@Injectable({ scope: Scope.REQUEST })
class OfOwnPath implements AuthorizationPolicy {
  constructor(@Inject(REQUEST) private readonly request: { readonly url: string }) {}

  allows(): boolean {
    return this.request.url.endsWith('own');
  }
}

@Controller('scoped')
class ScopedController {
  constructor(private readonly notes: CallNotes) {}

  @Get() @Authorize(NotesCall) number(): number {
    return this.notes.number;
  }

  @Get(':whose') @Authorize(OfOwnPath) path(): string {
    return 'in';
  }
}

const { controllers, providers } = openingsWith(
  applyDecorators(Authorize(OwnsOpening), Authorize(NotesCall), Authorize(NotesCallAgain)),
);

const KINDS: [kind: string, call: Call, request: object][] = [
  ['a controller', overHttp('/openings'), { url: '/openings' }],
  ['a resolver', overGraphql('openings'), { req: expect.anything() }],
  ['a gateway', overSocket('openings'), { pattern: 'openings', context: expect.anything() }],
  [
    'a message handler',
    overMessages('openings'),
    { pattern: 'openings', data: { token: expect.any(String) } },
  ],
];

describe.each(PLATFORMS)('a policy in an application on %s', (_name, platform) => {
  let every: EveryKind;

  beforeAll(async () => {
    every = await startEveryKind(platform, {
      controllers: [...controllers, ScopedController],
      providers: [...providers, Openings, OwnsOpening, CallNotes, NotesCall, NotesCallAgain, OfOwnPath],
    });
  });
  beforeEach(() => void NotesCall.noted.splice(0));
  afterAll(() => every.close());

  it.each(KINDS)(
    'decides for %s, and is given the call if it is request-scoped',
    async (kind, call, request) => {
      const ann = every.service.signInAs({ username: 'ann' });
      const bob = every.service.signInAs({ username: 'bob' });
      for (const token of [ann, ann]) expect(await call(every, token)).toBe('in');
      const denial = denialOver(kind, { statusCode: 403, code: 'ACCESS_DENIED' });
      const numbers = NotesCall.noted.map(({ number }) => number);
      expect(numbers.slice(0, 4)).toEqual([numbers[0], numbers[0], numbers[2], numbers[2]]);
      expect(numbers[2]).not.toBe(numbers[0]);
      expect(NotesCall.noted[0]?.request).toMatchObject(request);
      expect(await always(() => call(every, bob))).toMatchObject(denial);
    },
  );

  it('that is request-scoped shares its dependencies with a request-scoped controller', async () => {
    const reply = await every.app.get('/scoped', every.service.signInAs({ username: 'ann' }));
    expect(Number(await reply.text())).toBe(NotesCall.noted[0]?.number);
  });

  it('that is request-scoped is given each call', async () => {
    const token = every.service.signInAs({ username: 'ann' });
    const statusOf = async (whose: string) => (await every.app.get(`/scoped/${whose}`, token)).status;
    expect(await Promise.all(['own', 'other', 'own'].map(statusOf))).toEqual([200, 403, 200]);
  });
});
