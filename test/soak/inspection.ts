import type { Application } from './application.js';
import type { SeenReply, Sent } from './application-client.js';
import type { Figures } from './figures.js';
import type { Ledger } from './ledger.js';
import { MAX_CALM_STALL_MS, MAX_REPLY_MS } from './settings.js';
import type { Violations } from './violations.js';
import type { Weather } from './weather.js';

/** Milliseconds that an impatient caller waits. */
const IMPATIENCE_MS = 3;

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
  async check(application: Application, token: string, path: '/me' | '/managers' | '/fresh'): Promise<number | undefined> {
    const reply = await this.#send(application, { path, token });
    if (!reply) return undefined;
    const { name } = application;
    const seen = { application: name, token, managersOnly: path === '/managers', calm: this.#isCalm(reply), ...reply };
    this.#expect(reply, this.#ledger.permitted(seen), `${name}${path}${seen.calm ? ' in calm' : ''}`);
    if (reply.status === 200) {
      const { username } = JSON.parse(reply.body) as { username: string };
      this.#violations.unless(username === this.#ledger.usernameOf(token), 'the user of another session', this.#describe(reply));
    }
    return reply.status;
  }

  /** Nobody is asked about a request without a token, so that no fault touches it. */
  async checkWithoutToken(application: Application): Promise<void> {
    const reply = await this.#send(application, { path: '/me' });
    if (reply) this.#expect(reply, new Set([401]), `${application.name} without a token`);
  }

  /** A caller who does not wait for the reply. */
  async leaveEarly({ client }: Application, token: string | undefined): Promise<void> {
    this.figures.requests.add('left early');
    await client.send({ path: '/fresh', token, signal: AbortSignal.timeout(IMPATIENCE_MS) }).catch(() => undefined);
  }

  /** Gives the token, if the service could be asked. */
  async signIn(application: Application, username: string, password: string): Promise<string | undefined> {
    const reply = await this.#signIn(application, username, password, 200);
    if (reply?.status !== 200) return undefined;
    this.figures.sessions.add('signed in');
    return (JSON.parse(reply.body) as { token: string }).token;
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

  async #signIn(application: Application, username: string, password: string, right: number): Promise<SeenReply | undefined> {
    const reply = await this.#send(application, { method: 'POST', path: '/session', body: { username, password } });
    if (reply) this.#expect(reply, this.#orUnavailable(right, reply), `${application.name} sign-in`);
    return reply;
  }

  #orUnavailable(status: number, reply: SeenReply): ReadonlySet<number> {
    return new Set(this.#isCalm(reply) ? [status] : [status, 503]);
  }

  #isCalm({ sentAt, stalledMs }: SeenReply): boolean {
    return stalledMs < MAX_CALM_STALL_MS && this.#weather.wasCalmSince(sentAt);
  }

  async #send(application: Application, sent: Sent): Promise<SeenReply | undefined> {
    this.figures.requests.add(application.name);
    try {
      return await application.client.send(sent);
    } catch (error) {
      this.#violations.add('no reply', `${application.name} ${sent.path}: ${String(error)}`);
      return undefined;
    }
  }

  #expect(reply: SeenReply, permitted: ReadonlySet<number>, place: string): void {
    const { status, headers, sentAt, repliedAt, stalledMs } = reply;
    const ms = repliedAt - sentAt;
    this.figures.replies.add(String(status));
    this.figures.worstReplyMs = Math.max(this.figures.worstReplyMs, ms);
    const wanted = [...permitted].join(' or ');
    this.#violations.unless(permitted.has(status), `${status} instead of ${wanted} from ${place}`, this.#describe(reply));
    this.#violations.unless(ms - stalledMs <= MAX_REPLY_MS, 'a late reply', this.#describe(reply));
    const wait = headers['retry-after'] ?? '';
    const soundWait = /^\d+$/.test(wait) && Number(wait) >= 1 && Number(wait) <= 120;
    this.#violations.unless(status !== 503 || soundWait, 'a 503 without a sound Retry-After', this.#describe(reply));
  }

  #describe({ status, headers, body, sentAt, repliedAt, stalledMs }: SeenReply): string {
    const ms = Math.round(repliedAt - sentAt);
    const wait = headers['retry-after'] ?? '-';
    return `${this.#weather.lately}: after ${ms} ms (${Math.round(stalledMs)} stalled) ${status}, Retry-After ${wait}, ${body.slice(0, 200)}`;
  }
}
