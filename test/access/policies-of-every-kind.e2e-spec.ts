import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { applyDecorators } from '@nestjs/common';
import { Authorize } from 'nestjs-session-auth';
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
import { CallNotes, NotesCall, NotesCallAgain, Openings, OwnsOpening } from './openings.policies.js';

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
      controllers,
      providers: [...providers, Openings, OwnsOpening, CallNotes, NotesCall, NotesCallAgain],
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
});
