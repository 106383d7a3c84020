import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Metadata } from '@grpc/grpc-js';
import { canariesIn, everythingOf, TOKEN } from '../support/trial/canaries.js';
import { reply } from '../support/scripted-service.js';
import { grpcBed, metadata, speak, textsOf } from './grpc-bed.js';

describe('message handlers over gRPC', () => {
  const bed = grpcBed();
  const { ask, gather } = bed;

  beforeEach(() => bed.start());

  it('get the user and the token from the metadata', async () => {
    expect(await ask('Me', {}, metadata(bed.service.signInAs({}, 'good')))).toEqual({ text: 'ann good' });
  });

  it.each([
    ['no token', [], 16, 'SESSION_REQUIRED'],
    ['a refused token', ['bad'], 16, 'SESSION_REJECTED'],
    ['two tokens', ['good', 'good'], 16, 'SESSION_REJECTED'],
    ['a user of another role', ['good'], 7, 'ACCESS_DENIED'],
    ['everybody when the service gives no usable answer', ['unusable'], 14, 'SESSION_SERVICE_UNAVAILABLE'],
  ])('refuse %s with the status of gRPC, and do not run', async (_case, tokens, code, details) => {
    bed.service.signInAs({ role: 'new_hire' }, 'good');
    bed.service.signInAs({ username: 5 }, 'unusable');

    await expect(ask('Secrets', {}, metadata(...tokens))).rejects.toMatchObject({ code, details: expect.stringContaining(`${details}: `) });
    expect(bed.runs.count).toBe(0);
  });

  it('tell no secret, whatever they refuse', async () => {
    bed.service.signInAs({ role: 'new_hire' }, TOKEN);
    for (const [method, token] of [
      ['Secrets', TOKEN],
      ['Me', `${TOKEN}?`],
    ] as const) {
      const error: unknown = await ask(method, {}, metadata(token)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Error);
      expect(canariesIn(everythingOf(error))).toEqual([]);
    }
  });

  it('let a stranger in where they are open', async () => {
    expect(await ask('Greeting', {}, metadata())).toEqual({ text: 'hello stranger' });
    expect(await ask('Greeting', {}, metadata('bad'))).toEqual({ text: 'hello stranger' });
  });

  it('answer an error of the service class that they let through with its own meaning', async () => {
    bed.service.on('sign_out', reply(403));

    await expect(ask('SignOut', { token: 'some-token' }, metadata())).rejects.toMatchObject({
      code: 7,
      details: expect.stringContaining('ACCESS_DENIED'),
    });
    await expect(ask('SignOut', { token: '' }, metadata())).rejects.toMatchObject({ code: 16 });
  });

  it.each([
    ['that answers with many', (presented: Metadata) => bed.client.Ticks({}, presented), ['ann 1', 'ann 2']],
    ['in both directions', (presented: Metadata) => speak(bed.client.Chat(presented), 2), ['ann 1', 'ann 2']],
    ['in both directions, whose handler reads first', (presented: Metadata) => speak(bed.client.Converse(presented), 1), ['first 1']],
    ['that is handed to the handler', (presented: Metadata) => speak(bed.client.Through(presented), 2), ['through']],
  ])('are guarded in a call %s', async (_kind, call, texts) => {
    expect(await textsOf(call(metadata(bed.service.signInAs({}, 'good'))))).toEqual(texts);
    bed.runs.count = 0;

    await expect(textsOf(call(metadata('bad')))).rejects.toMatchObject({ code: 16 });
    expect(bed.runs.count).toBe(0);
    expect(await ask('Greeting', {}, metadata())).toEqual({ text: 'hello stranger' });
  });

  it.each([
    ['that streams its questions', 'Sum', 'ann 6'],
    ['that is handed to the handler with what it answers with', 'Gather', 'gathered'],
  ] as const)('are guarded in a call %s', async (_kind, method, text) => {
    expect(await gather(method, metadata(bed.service.signInAs({}, 'good')), 3)).toEqual({ text });
    await expect(gather(method, metadata('bad'), 3)).rejects.toMatchObject({ code: 16 });
    expect(bed.runs.count).toBe(1);
  });
});
