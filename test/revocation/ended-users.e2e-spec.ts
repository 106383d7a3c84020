import { describe, expect, it } from '@jest/globals';
import { SessionAuthEvents, SessionAuthService } from 'nestjs-session-auth';
import { LIBRARIES, socketTrial } from '../sockets/socket-trial.js';
import { hold, json } from '../support/scripted-service.js';
import { until } from '../support/until.js';

describe.each(LIBRARIES)('sockets of %s', (_name, library) => {
  const trial = socketTrial(library);

  it('close when the sessions of their user are ended, and those of others stay open', async () => {
    const { app } = await trial.start();
    const [ann, again, bob] = await Promise.all(
      ['ann', 'ann', 'bob'].map((username) => trial.attempt(trial.service.signInAs({ username }))),
    );
    expect(trial.counts()).toEqual({ watched: 3, waiting: 0 });
    await app.get(SessionAuthService).endUser('ann');

    expect(await ann?.closed).toMatchObject({ statusCode: 401 });
    expect(await again?.closed).toMatchObject({ statusCode: 401 });
    expect(trial.counts()).toEqual({ watched: 1, waiting: 0 });
    const { length } = bob?.heard ?? [];
    await until('the other one hears', () => (bob?.heard.length ?? 0) > length);
  });

  it('all close when all sessions are ended', async () => {
    const { app } = await trial.start();
    const attempts = await Promise.all(['ann', 'bob'].map((username) => trial.attempt(trial.service.signInAs({ username }))));
    await app.get(SessionAuthService).endAll();

    for (const { closed } of attempts) expect(await closed).toMatchObject({ statusCode: 401 });
    await trial.empty();
  });

  it('open only after another check when the sessions of their user are ended during the handshake', async () => {
    const { app } = await trial.start({ cache: { ttlMs: 60_000 } });
    const held = hold(json({ username: 'ann' }));
    trial.service.on('user_details', held.script);
    const attempt = trial.attempt('some-token');
    await held.arrived;
    await app.get(SessionAuthService).endUser('ann');
    trial.service.on('user_details', (_request, response) => void response.writeHead(401).end());
    held.release();

    expect(await attempt).toMatchObject({ opened: false, heard: [], denial: { statusCode: 401 } });
  });
});

describe('an application without a store', () => {
  const [[, library]] = LIBRARIES as [(typeof LIBRARIES)[number]];
  const trial = socketTrial(library);

  it('evicts the sessions of a user, and tells listeners the name', async () => {
    const { app } = await trial.start({ cache: { ttlMs: 60_000 } });
    const sessions = app.get(SessionAuthService);
    const told: (string | undefined)[] = [];
    app.get(SessionAuthEvents).endedUsers$.subscribe((username) => told.push(username));
    const [ann, bob] = ['ann', 'bob'].map((username) => trial.service.signInAs({ username })) as [string, string];
    for (const token of [ann, bob, ann, bob]) await sessions.verify(token);
    expect([trial.service.callsTo('user_details'), sessions.countCached()]).toEqual([2, 2]);

    await sessions.endUser('ann');
    expect(sessions.countCached()).toBe(1);
    for (const token of [ann, bob]) await sessions.verify(token);
    expect(trial.service.callsTo('user_details')).toBe(3);
    await sessions.endAll();
    expect([sessions.countCached(), told]).toEqual([0, ['ann', undefined]]);
    await expect(sessions.endUser(7 as never)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
