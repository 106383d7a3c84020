import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from './application.js';
import type { Opened, SeenReply, Sent } from './application-client.js';
import type { Figures } from './figures.js';
import type { Ledger } from './ledger.js';
import { COOKIE, FLOOD, FOREIGN_ORIGIN, JUNK_PREFIX, MAX_REPLY_MS, TRUSTED_ORIGIN } from './settings.js';
import type { Violations } from './violations.js';
import type { Weather } from './weather.js';

/** Milliseconds that an impatient caller waits. */
const IMPATIENCE_MS = 3;

/** The page that sent a request with the cookie, and the headers of its browser. */
const PAGES = {
  own: () => ({ 'sec-fetch-site': 'same-origin' }),
  'own, by an old browser': (url: string) => ({ origin: url }),
  trusted: () => ({ origin: TRUSTED_ORIGIN, 'sec-fetch-site': 'cross-site' }),
  foreign: () => ({ origin: FOREIGN_ORIGIN, 'sec-fetch-site': 'cross-site' }),
  'foreign, by an old browser': () => ({
    origin: FOREIGN_ORIGIN,
    'x-forwarded-host': 'elsewhere.example.net',
  }),
  opaque: () => ({ origin: 'null' }),
} satisfies Record<string, (url: string) => Record<string, string>>;

export type Page = keyof typeof PAGES;
export const OWN_PAGES: readonly Page[] = ['own', 'own, by an old browser', 'trusted'];
export const FOREIGN_PAGES: readonly Page[] = ['foreign', 'foreign, by an old browser', 'opaque'];

type Path = '/me' | '/managers' | '/fresh' | '/change' | '/socket';

/** Sends requests, and holds every reply against the truth. */
export class Inspection {
  readonly figures: Figures;
  readonly #ledger: Ledger;
  readonly #weather: Weather;
  readonly #violations: Violations;

  constructor(ledger: Ledger, weather: Weather, figures: Figures, violations: Violations) {
    this.#ledger = ledger;
    this.#weather = weather;
    this.figures = figures;
    this.#violations = violations;
  }

  /** A guarded request: its verdict and its user must be true. */
  async check(application: Application, token: string, path: Path): Promise<number | undefined> {
    const reply = await this.#send(application, { path, token });
    if (reply) this.#judge(application, token, path, reply);
    return reply?.status;
  }

  /**
   * A request that may change something, with the cookie: a page of another origin is denied in any state of
   * the service.
   */
  async checkCookie(application: Application, token: string, page: Page): Promise<void> {
    this.figures.requests.add(`cookie of a page: ${page}`);
    const reply = await this.#send(application, {
      method: 'POST',
      path: '/change',
      headers: this.#cookie(application, token, page),
    });
    if (!reply) return;
    if (FOREIGN_PAGES.includes(page))
      this.#expect(reply, new Set([403]), `${application.name}, a page: ${page}`);
    else this.#judge(application, token, '/change', reply);
  }

  /**
   * A handshake by a header or by the cookie of a page. The socket stays for a while, and closes when its
   * session ends.
   */
  async openSocket(
    application: Application,
    token: string,
    page: Page | undefined,
    forMs: number,
  ): Promise<void> {
    this.figures.requests.add(`handshake${page === undefined ? '' : ` of a page: ${page}`}`);
    const opened = await this.#open(application, token, page);
    if (!opened) return;
    const { reply, socket } = opened;
    const isForeign = page !== undefined && FOREIGN_PAGES.includes(page);
    if (isForeign) this.#expect(reply, new Set([403]), `${application.name}, a socket of a page: ${page}`);
    else this.#judge(application, token, '/socket', reply);
    if (socket) await this.#watch(application, token, socket, forMs);
  }

  /** Sends dozens of strangers at once, so that their lane is full. Each gets 401 or 503. */
  async flood(application: Application): Promise<void> {
    this.figures.requests.add('floods');
    await application.flood(async () => {
      const strangers = Array.from({ length: FLOOD }, async () => {
        const reply = await this.#send(application, { path: '/me', token: `${JUNK_PREFIX}${randomUUID()}` });
        if (reply) this.#expect(reply, new Set([401, 503]), `${application.name} in a flood`);
      });
      await Promise.all(strangers);
    });
  }

  /** A request without a token makes no call, so that no fault touches it. */
  async checkWithoutToken(application: Application): Promise<void> {
    const reply = await this.#send(application, { path: '/me' });
    if (reply) this.#expect(reply, new Set([401]), `${application.name} without a token`);
  }

  /** A caller who does not wait for the reply. */
  async leaveEarly({ client }: Application, token: string | undefined): Promise<void> {
    this.figures.requests.add('left early');
    await client
      .send({ path: '/fresh', token, signal: AbortSignal.timeout(IMPATIENCE_MS) })
      .catch(() => undefined);
  }

  /** Returns the token, if the call succeeded. */
  async signIn(application: Application, username: string, password: string): Promise<string | undefined> {
    const reply = await this.#signIn(application, username, password, 200);
    if (reply?.status !== 200) return undefined;
    this.figures.sessions.add('signed in');
    return (JSON.parse(reply.body) as { token: string }).token;
  }

  /** Every instance of the application checks the session again. */
  async forget(application: Application, token: string): Promise<void> {
    const reply = await this.#send(application, { method: 'DELETE', path: '/cached-session', token });
    if (!reply) return;
    this.#expect(reply, new Set([200]), `${application.name} forget`);
    this.figures.sessions.add('evicted');
  }

  /** Every instance of the application checks the sessions of the user again, and closes their sockets. */
  async forgetUser(application: Application, username: string): Promise<void> {
    this.#ledger.endingUser(username);
    const reply = await this.#send(application, { method: 'DELETE', path: `/users/${username}` });
    this.#ledger.forgottenUser(username);
    if (!reply) return;
    this.#expect(reply, new Set([200]), `${application.name} forgetUser`);
    this.figures.sessions.add('users ended');
  }

  async guessPassword(application: Application, username: string): Promise<void> {
    await this.#signIn(application, username, 'a guess', 401);
  }

  async signOut(application: Application, token: string): Promise<void> {
    const reply = await this.#send(application, { method: 'DELETE', path: '/session', token });
    if (!reply) return;
    this.#expect(reply, this.#orUnavailable(200, reply), `${application.name} sign-out`);
    if (reply.status !== 200) return;
    this.#ledger.signedOut(token, application.name);
    this.figures.sessions.add('signed out');
  }

  async #signIn(
    application: Application,
    username: string,
    password: string,
    right: number,
  ): Promise<SeenReply | undefined> {
    const reply = await this.#send(application, {
      method: 'POST',
      path: '/session',
      body: { username, password },
    });
    // The 429 of a sign-in reaches its user; that of a check does not.
    const permitted = reply && this.#isCalm(reply) ? [right] : [right, 429, 503];
    if (reply) this.#expect(reply, new Set(permitted), `${application.name} sign-in`);
    return reply;
  }

  /** Compares a verdict with the ledger. */
  #judge(application: Application, token: string, path: Path, reply: SeenReply): void {
    const { name } = application;
    const flooded = application.wasFloodedSince(reply.sentAt);
    const seen = {
      application: name,
      token,
      managersOnly: path === '/managers',
      calm: this.#isCalm(reply),
      flooded,
      ...reply,
    };
    this.#expect(reply, this.#ledger.permitted(seen), `${name}${path}${seen.calm ? ' in calm' : ''}`);
    if (reply.status !== 200) return;
    this.#ledger.known(token, name);
    const { username } = JSON.parse(reply.body) as { readonly username?: string };
    this.#violations.unless(
      username === this.#ledger.usernameOf(token),
      'the user of another session',
      this.#describe(reply),
    );
  }

  /** Waits, and looks at whether the socket was closed in time, and only then. */
  async #watch(
    application: Application,
    token: string,
    socket: NonNullable<Opened['socket']>,
    forMs: number,
  ): Promise<void> {
    this.figures.sessions.add('sockets opened');
    const openedAt = performance.now();
    const lostBefore = application.client.lostMs;
    let closed: number | undefined;
    let closedEarly = '';
    socket.once('close', (code) => {
      closed = code;
      if (closedEarly === '' && !(code === 4401 && this.#ledger.mayBeClosed(token, openedAt)))
        closedEarly = `${application.name}: ${code}`;
    });
    await delay(forMs);
    const name = `${application.name}, after ${Math.round(performance.now() - openedAt)} ms`;
    if (closed === undefined) {
      this.#violations.unless(
        !this.#ledger.mustBeClosed(token, application.name, application.client.lostMs - lostBefore),
        'a socket that outlives its session',
        name,
      );
      socket.removeAllListeners('close');
      socket.close();
      return;
    }
    this.figures.sessions.add('sockets closed by their end');
    this.#violations.unless(closedEarly === '', 'a socket of a valid session that was closed', closedEarly);
  }

  #cookie({ client }: Application, token: string, page: Page): Record<string, string> {
    return { cookie: `theme=dark; ${COOKIE}=${token}`, ...PAGES[page](client.url) };
  }

  async #open(application: Application, token: string, page: Page | undefined): Promise<Opened | undefined> {
    const presented = page === undefined ? { token } : { headers: this.#cookie(application, token, page) };
    return this.#replied(application, '/socket', () =>
      application.client.open({ path: '/socket', ...presented }),
    );
  }

  #orUnavailable(status: number, reply: SeenReply): ReadonlySet<number> {
    return new Set(this.#isCalm(reply) ? [status] : [status, 503]);
  }

  #isCalm({ sentAt, steady }: SeenReply): boolean {
    return steady && this.#weather.wasCalmSince(sentAt);
  }

  #send(application: Application, sent: Sent): Promise<SeenReply | undefined> {
    return this.#replied(application, sent.path, () => application.client.send(sent));
  }

  async #replied<Reply>(
    application: Application,
    path: string,
    send: () => Promise<Reply>,
  ): Promise<Reply | undefined> {
    this.figures.requests.add(application.name);
    const [sentAt, lostBefore] = [performance.now(), application.client.lostMs];
    try {
      return await send();
    } catch (error) {
      const waited = { ms: performance.now() - sentAt, lostMs: application.client.lostMs - lostBefore };
      this.#violations.late('no reply', `${application.name} ${path}: ${String(error)}`, waited);
      return undefined;
    }
  }

  #expect(reply: SeenReply, permitted: ReadonlySet<number>, place: string): void {
    const { status, headers, sentAt, repliedAt, stalledMs } = reply;
    const ms = repliedAt - sentAt;
    this.figures.replies.add(String(status));
    if (this.#isCalm(reply)) this.figures.replies.add('in calm');
    this.figures.worstReplyMs = Math.max(this.figures.worstReplyMs, ms);
    const wanted = [...permitted].join(' or ');
    this.#violations.unless(
      permitted.has(status),
      `${status} instead of ${wanted} from ${place}`,
      this.#describe(reply),
    );
    if (ms - stalledMs > MAX_REPLY_MS)
      this.#violations.late('a late reply', this.#describe(reply), { ms, lostMs: stalledMs });
    const wait = headers['retry-after'] ?? '';
    const soundWait = /^\d+$/.test(wait) && Number(wait) >= 1 && Number(wait) <= 120;
    this.#violations.unless(
      status !== 503 || soundWait,
      'a 503 without a sound Retry-After',
      this.#describe(reply),
    );
  }

  #describe({ status, headers, body, sentAt, repliedAt, stalledMs }: SeenReply): string {
    const ms = Math.round(repliedAt - sentAt);
    const wait = headers['retry-after'] ?? '-';
    return `${this.#weather.lately}: after ${ms} ms (${Math.round(stalledMs)} stalled) ${status}, Retry-After ${wait}, ${body.slice(0, 200)}`;
  }
}
