import { describe, expect } from '@jest/globals';
import type { Metadata } from '@grpc/grpc-js';
import { grpcBed, metadata, speak, textsOf, type Call, type GrpcBed } from './grpc-bed.js';
import { afterDelay, hold, json } from '../support/scripted-service.js';
import { plainRow } from '../support/trial/row.js';

const SLOW_MS = 100;
const QUESTIONS = 50;
const ABOUT = Array.from({ length: QUESTIONS }, (_, index) => `ann ${index + 1}`);

type Ask = (bed: GrpcBed, presented: Metadata) => Promise<unknown>;

/** Each kind of call, whose client ends at once, and what a good token gets. */
const KINDS: readonly (readonly [ask: Ask, answer: unknown])[] = [
  [({ ask }, presented) => ask('Me', {}, presented), { text: 'ann good' }],
  [({ client }, presented) => textsOf(client.Ticks({}, presented)), ['ann 1', 'ann 2']],
  [({ client }, presented) => textsOf(speak(client.Chat(presented), QUESTIONS)), ABOUT],
  [({ gather }, presented) => gather('Sum', presented, QUESTIONS), { text: `ann ${(QUESTIONS * (QUESTIONS + 1)) / 2}` }],
  [({ client }, presented) => textsOf(speak(client.Through(presented), QUESTIONS)), ['through']],
  [({ gather }, presented) => gather('Gather', presented, QUESTIONS), { text: 'gathered' }],
];

const ignore = () => undefined;

/** A call of each kind that Nest answers. */
const ABANDONED: readonly ((bed: GrpcBed, presented: Metadata) => { cancel(): void })[] = [
  ({ client }, presented) => client.Me({}, presented, ignore),
  ({ client }, presented) => heard(client.Ticks({}, presented)),
  ({ client }, presented) => heard(speak(client.Chat(presented), QUESTIONS)),
  ({ client }, presented) => heard(client.Chat(presented)),
  ({ client }, presented) => speak(client.Sum(presented, ignore), QUESTIONS),
];

function heard(call: Call): Call {
  textsOf(call).catch(ignore);
  return call;
}

describe.each([
  ['off', false as const],
  ['on', { ttlMs: 60_000, negativeTtlMs: 60_000 }],
])('streams over gRPC with the cache %s', (_state, cache) => {
  const bed = grpcBed();

  plainRow('a call whose client ends at once is refused with a junk token, of every kind, and the process lives [P07]', async () => {
    await bed.start({ cache });
    for (const [ask] of [...KINDS, ...KINDS]) await expect(ask(bed, metadata('junk'))).rejects.toMatchObject({ code: 16 });

    expect(bed.runs.count).toBe(0);
    expect(await bed.ask('Greeting', {}, metadata())).toEqual({ text: 'hello stranger' });
  });

  plainRow('a call whose client ends at once is served with a good token, of every kind, and no message is lost [P07]', async () => {
    bed.service.signInAs({}, 'good');
    await bed.start({ cache });
    for (const [ask, answer] of [...KINDS, ...KINDS]) expect(await ask(bed, metadata('good'))).toEqual(answer);
  });

  plainRow('a call that its client cancels during the check runs no handler, and the process lives [P07]', async () => {
    const held = hold(json({ username: 'ann' }));
    bed.service.on('user_details', held.script);
    await bed.start({ cache });
    const calls = ABANDONED.map((call) => call(bed, metadata('good')));
    await held.arrived;
    // What a client sends arrives in its order: first the calls, then their ends.
    await bed.ask('Greeting', {}, metadata());
    for (const call of calls) call.cancel();
    await bed.ask('Greeting', {}, metadata());
    held.release();

    expect(await bed.ask('Me', {}, metadata('good'))).toEqual({ text: 'ann good' });
    expect(bed.runs.count).toBe(1);
  });

  plainRow('a slow service changes nothing of either [P07]', async () => {
    bed.service.on('user_details', (request, ...rest) => {
      const known = request.headers['x-auth-token'] === 'good';
      afterDelay(SLOW_MS, known ? json({ username: 'ann' }) : (_request, response) => void response.writeHead(401).end())(request, ...rest);
    });
    await bed.start({ cache });
    const answers = [...KINDS, ...KINDS].map(async ([ask, answer]) => {
      expect(await ask(bed, metadata('good'))).toEqual(answer);
      await expect(ask(bed, metadata('junk'))).rejects.toMatchObject({ code: 16 });
    });
    await Promise.all(answers);
  });
});
