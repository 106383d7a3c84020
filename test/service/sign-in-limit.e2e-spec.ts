import { describe, expect, it } from '@jest/globals';
import { Body, Controller, HttpCode, Ip, Module, Post, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionAuthModule, SessionAuthService, type Credentials, type SessionAuthOptions, type SignInOptions } from 'nestjs-session-auth';
import { DENIAL_CHANNEL } from 'nestjs-session-auth/diagnostics';
import { TooManyAttemptsError } from 'nestjs-session-auth/errors';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { CapturedLog } from '../support/captured-log.js';
import { handClock } from '../support/hand-clock.js';
import { platforms } from '../support/platforms.js';
import { hold, reply, type Script } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { canariesIn, everythingOf, PASSWORD } from '../support/trial/canaries.js';

const WINDOW_MS = 60_000;
const LIMIT = { failures: 3, windowMs: WINDOW_MS };
const HOME = '203.0.113.7';
const OFFICE = '198.51.100.9';
const RIGHT: Credentials = { username: 'ann', password: PASSWORD };
const WRONG: Credentials = { username: 'ann', password: 'wrong' };

/** The service class with the limit, and a session service that knows ann. */
async function limited(bed: ReturnType<typeof testbed>, options: Partial<SessionAuthOptions> = {}, log?: CapturedLog) {
  const service = await bed.service();
  service.addUser(RIGHT);
  const sessions = await bed.sessions({ baseUrl: service.url, options: { signInLimit: LIMIT, ...options } }, log);
  /** The status that a sign-in comes to. */
  const signIn = async (credentials: Credentials, client: string | undefined, more: SignInOptions = {}): Promise<number> => {
    const error: unknown = await sessions.signIn(credentials, { client, ...more }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error === undefined ? 200 : ((error as { statusCode?: number }).statusCode ?? 0);
  };
  const signIns = async (times: number, credentials: Credentials, client: string): Promise<number[]> => {
    const statuses: number[] = [];
    for (let time = 0; time < times; time += 1) statuses.push(await signIn(credentials, client));
    return statuses;
  };
  return { service, sessions, signIn, signIns, calls: () => service.callsTo('sign_in') };
}

const named = (number: number): Credentials => ({ username: `user ${number}`, password: 'wrong' });
const many = <Item>(count: number, item: (index: number) => Item): Item[] => Array.from({ length: count }, (_, index) => item(index));

describe('signInLimit', () => {
  const bed = testbed();
  const clock = handClock();

  it('refuses further sign-ins of a user name from a client, also with the right password, and calls the service for none of them', async () => {
    const { signIn, signIns, calls } = await limited(bed);

    expect(await signIns(5, WRONG, HOME)).toEqual([401, 401, 401, 429, 429]);
    expect([await signIn(RIGHT, HOME), calls()]).toEqual([429, 3]);
  });

  it('always admits a right password from another client, and other users of the same client', async () => {
    const { service, signIn, signIns } = await limited(bed);
    service.addUser({ username: 'bob', password: 'bobs' });
    for (let client = 1; client < 50; client += 1) await signIns(4, WRONG, `192.0.2.${client}`);

    expect([await signIn(RIGHT, HOME), await signIn({ username: 'bob', password: 'bobs' }, '192.0.2.1')]).toEqual([200, 200]);
  });

  it('refuses a client that fails ten times as often with any user names, or as often as failuresPerClient permits', async () => {
    const { signIn, calls } = await limited(bed);
    const own = await limited(bed, { signInLimit: { ...LIMIT, failuresPerClient: 4 } });

    expect(await Promise.all(many(30, (index) => signIn(named(index), HOME)))).toEqual(Array(30).fill(401));
    expect([await signIn(RIGHT, HOME), calls(), await signIn(RIGHT, OFFICE)]).toEqual([429, 30, 200]);
    for (let index = 0; index < 4; index += 1) await own.signIn(named(index), HOME);
    expect([await own.signIn(RIGHT, HOME), own.calls()]).toEqual([429, 4]);
  });

  it('lets no more of 1000 parallel guesses through than the limit', async () => {
    const { service, signIn, calls } = await limited(bed, { maxSignIns: 10_000 });
    const answer = hold(reply(401));
    service.on('sign_in', answer.script);
    const guesses = many(1_000, () => signIn(WRONG, HOME));
    await answer.arrived;
    answer.release();

    const statuses = await Promise.all(guesses);
    expect([statuses.filter((status) => status === 401).length, statuses.filter((status) => status === 429).length]).toEqual([3, 997]);
    const sprayed = await Promise.all(many(1_000, (index) => signIn(named(index), OFFICE)));
    expect([sprayed.filter((status) => status === 401).length, calls()]).toEqual([30, 33]);
  });

  it('asks to retry in a second where only sign-ins in flight fill the limit, and gives their places back when they succeed', async () => {
    const { service, sessions, signIn } = await limited(bed);
    const first = many(3, () => signIn(RIGHT, HOME));

    await expect(sessions.signIn(RIGHT, { client: HOME })).rejects.toMatchObject({ statusCode: 429, retryAfterSeconds: 1 });
    expect(await Promise.all(first)).toEqual([200, 200, 200]);
    expect(await Promise.all(many(3, () => signIn(RIGHT, HOME)))).toEqual([200, 200, 200]);
    expect(service.callsTo('sign_in')).toBe(6);
  });

  it.each<[string, Script, number]>([
    ['400', reply(400), 400],
    ['403', reply(403), 403],
    ['500', reply(500), 503],
    ['429', reply(429), 503],
    ['202', reply(202), 200],
    ['200 without a user', reply(200), 503],
  ])('counts no sign-in that is answered %s', async (_answer, script, status) => {
    const { service, signIns } = await limited(bed);
    service.on('sign_in', script);

    expect(await signIns(5, WRONG, HOME)).toEqual(Array(5).fill(status));
  });

  it('counts a sign-in that is answered 404 like one that is answered 401', async () => {
    const { service, signIns } = await limited(bed);
    service.on('sign_in', reply(404));

    expect(await signIns(4, WRONG, HOME)).toEqual([401, 401, 401, 429]);
  });

  it('counts no sign-in that was aborted, that found maxSignIns in flight, or that could not be sent', async () => {
    const { service, signIn, signIns } = await limited(bed, { maxSignIns: 1 });
    const answer = hold(reply(401));
    service.on('sign_in', answer.script);
    const abort = new AbortController();
    const aborted = signIn(WRONG, HOME, { signal: abort.signal });
    await answer.arrived;
    expect(await signIns(5, WRONG, OFFICE)).toEqual(Array(5).fill(503));
    expect(await signIns(5, { username: 'ann' } as Credentials, HOME)).toEqual(Array(5).fill(400));
    abort.abort(Object.assign(new Error('gone'), { statusCode: 499 }));
    expect(await aborted).toBe(499);
    service.on('sign_in', reply(401));

    expect([await signIns(4, WRONG, HOME), await signIns(4, WRONG, OFFICE)]).toEqual([
      [401, 401, 401, 429],
      [401, 401, 401, 429],
    ]);
  });

  it('clears the failures of a user name and client after a success, but not those of the client', async () => {
    const { signIns } = await limited(bed, { signInLimit: { ...LIMIT, failuresPerClient: 5 } });

    expect(await signIns(2, WRONG, HOME)).toEqual([401, 401]);
    expect(await signIns(1, RIGHT, HOME)).toEqual([200]);
    expect(await signIns(4, WRONG, HOME)).toEqual([401, 401, 401, 429]);
    expect(await signIns(2, { username: 'cid', password: 'x' }, HOME)).toEqual([429, 429]);
  });

  it('counts a failure for windowMs, says when the oldest ends, and admits a sign-in from then on', async () => {
    const { sessions, signIn, signIns } = await limited(bed);
    await signIn(WRONG, HOME);
    clock.advance(20_500);
    await signIns(2, WRONG, HOME);

    await expect(sessions.signIn(RIGHT, { client: HOME })).rejects.toMatchObject({ retryAfterSeconds: 40 });
    clock.advance(39_499);
    await expect(sessions.signIn(RIGHT, { client: HOME })).rejects.toMatchObject({ retryAfterSeconds: 1 });
    clock.advance(1);
    expect(await signIns(2, WRONG, HOME)).toEqual([401, 429]);
    clock.advance(20_500);
    expect(await signIn(RIGHT, HOME)).toBe(200);
  });

  it.each([
    ['an IPv6 network of 64 bits', '2001:db8:1:2::5', '2001:db8:1:2:ffff::9', '2001:db8:1:3::5'],
    ['an IPv4 address in IPv6', '::ffff:203.0.113.7', HOME, '::ffff:203.0.113.8'],
    ['an address with ports', '203.0.113.7:40001', '203.0.113.7:40002', '203.0.113.8:40001'],
    ['any other text', 'night job', 'night job', 'day job'],
  ])('counts %s as one client', async (_kind, one, same, other) => {
    const { signIn, signIns } = await limited(bed);
    await signIns(3, WRONG, one);

    expect([await signIn(WRONG, same), await signIn(WRONG, other)]).toEqual([429, 401]);
  });

  it('counts spellings of a user name as one', async () => {
    const { signIn } = await limited(bed);
    for (const username of ['ann', 'ANN', ' ann\t']) await signIn({ username, password: 'x' }, HOME);

    expect([await signIn({ username: '\uff21nn', password: 'x' }, HOME), await signIn(named(1), HOME)]).toEqual([429, 401]);
  });

  it.each([undefined, '', 'x'.repeat(257), 7, null, ['203.0.113.7']])(
    'needs a client, and calls the service for none without: %p',
    async (client) => {
      const { sessions, calls } = await limited(bed);

      await expect(sessions.signIn(RIGHT, { client: client as string })).rejects.toMatchObject({
        statusCode: 400,
        message: 'With signInLimit, a sign-in needs its client, of 1 to 256 characters: signIn(credentials, { client: request.ip })',
      });
      expect(calls()).toBe(0);
    },
  );

  it('is off by default, and then needs no client', async () => {
    const { sessions, signIns } = await limited(bed, { signInLimit: false });

    expect(await signIns(50, WRONG, HOME)).toEqual(Array(50).fill(401));
    expect(await sessions.signIn(RIGHT)).toMatchObject({ kind: 'signed-in' });
  });

  it('rejects with an error that has no stack trace, and holds neither the user name nor the password', async () => {
    const { sessions, signIns } = await limited(bed);
    await signIns(3, { username: 'canary-name', password: PASSWORD }, HOME);
    const error: unknown = await sessions
      .signIn({ username: 'canary-name', password: PASSWORD }, { client: HOME })
      .catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(TooManyAttemptsError);
    expect((error as Error).stack).not.toContain('\n    at ');
    expect(canariesIn(everythingOf(error))).toEqual([]);
    expect(everythingOf(error)).not.toContain('canary-name');
  });

  it('logs one line a minute, which names the client and not the user, and reports each refusal to the channel of denials', async () => {
    const log = new CapturedLog();
    const { signIns } = await limited(bed, {}, log);
    const messages: unknown[] = [];
    const onDenial = (message: unknown): void => void messages.push(message);
    subscribe(DENIAL_CHANNEL, onDenial);
    await signIns(6, { username: 'canary-name', password: 'x' }, '2001:db8::5');
    unsubscribe(DENIAL_CHANNEL, onDenial);

    expect(log.having('warn', 'sign-ins limited: ')).toEqual([expect.stringContaining('the latest from 2001:db8:0:0::/64.')]);
    expect(log.lines.join('\n')).not.toContain('canary-name');
    expect(messages).toEqual(Array(3).fill({ code: 'TOO_MANY_ATTEMPTS', authority: 'default' }));
  });

  it('belongs to one registration: each has its own counts and its own option', async () => {
    const service = await bed.service();
    const registration = { baseUrl: service.url, apiKey: 'application-key' };
    @Module({
      imports: [
        SessionAuthModule.forRoot({ ...registration, signInLimit: LIMIT }),
        SessionAuthModule.forRoot({ ...registration, name: 'partners', signInLimit: { ...LIMIT, failures: 1 } }),
        SessionAuthModule.forRoot({ ...registration, name: 'suppliers' }),
      ],
    })
    class Root {}
    const context = await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
    const statusesOf = async (name: string): Promise<unknown[]> => {
      const sessions = context.get<SessionAuthService>(SessionAuthModule.getToken(name, SessionAuthService));
      const statuses: unknown[] = [];
      for (let time = 0; time < 5; time += 1) {
        await sessions.signIn(WRONG, { client: HOME }).catch((error: unknown) => statuses.push((error as TooManyAttemptsError).statusCode));
      }
      return statuses;
    };

    expect([await statusesOf('default'), await statusesOf('partners'), await statusesOf('suppliers')]).toEqual([
      [401, 401, 401, 429, 429],
      [401, 429, 429, 429, 429],
      [401, 401, 401, 401, 401],
    ]);
    await context.close();
  });
});

@Controller('sign-in')
class SignInController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Post()
  @HttpCode(200)
  async signIn(@Body() credentials: Credentials, @Ip() client: string): Promise<string> {
    return (await this.sessions.signIn(credentials, { client })).kind;
  }
}

/** Behind one proxy on this host. */
function trustProxy(app: INestApplication): void {
  const instance: unknown = app.getHttpAdapter().getInstance();
  if (app.getHttpAdapter().getType() === 'express') (instance as { set(name: string, value: string): void }).set('trust proxy', 'loopback');
}

describe.each(platforms('Express'))('signInLimit on %s', (name, platform) => {
  const bed = testbed(async () =>
    name === 'Express' ? platform() : new (await import('@nestjs/platform-fastify')).FastifyAdapter({ trustProxy: 'loopback' }),
  );

  it('answers 429 with Retry-After to the client behind a proxy that has failed, and 200 to another', async () => {
    const service = await bed.service();
    service.addUser(RIGHT);
    const sample = { baseUrl: service.url, options: { signInLimit: { failures: 2, windowMs: 900_000 } }, controllers: [SignInController] };
    const { url } = await bed.sample(sample, { configure: trustProxy });
    const post = (credentials: Credentials, client: string): Promise<Response> =>
      fetch(`${url}/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.9.9.9, ${client}` },
        body: JSON.stringify(credentials),
      });
    expect([(await post(WRONG, HOME)).status, (await post(WRONG, HOME)).status]).toEqual([401, 401]);
    const refused = await post(RIGHT, HOME);
    const body = (await refused.json()) as { readonly retryAfterSeconds: number };

    expect(body).toEqual({
      statusCode: 429,
      message: 'Too many sign-ins have failed; try again later',
      error: 'Too Many Requests',
      code: 'TOO_MANY_ATTEMPTS',
      retryAfterSeconds: expect.any(Number) as unknown,
    });
    expect(body.retryAfterSeconds).toBeGreaterThan(600);
    expect(body.retryAfterSeconds).toBeLessThanOrEqual(900);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, String(body.retryAfterSeconds)]);
    expect([refused.headers.get('cache-control'), refused.headers.get('www-authenticate')]).toEqual(['no-store', null]);
    expect([(await post(RIGHT, OFFICE)).status, service.callsTo('sign_in')]).toEqual([200, 3]);
  });
});
