import { randomUUID } from 'node:crypto';
import type { Application } from './application.js';
import { FOREIGN_PAGES, OWN_PAGES, type Inspection, type Page } from './inspection.js';
import type { Ledger } from './ledger.js';
import type { SeededRandom } from './seeded-random.js';
import type { SessionService } from './session-service.js';
import { MAX_SIGN_CALLS, PASSWORD, TOKEN_PREFIX } from './settings.js';

const USERS = 100;
/** Ended sessions whose tokens are still presented. */
const ENDED_IN_USE = 40;
/** The longest that a socket stays. */
const SOCKET_MS = 4_000;

type Visit = (application: Application) => Promise<void>;

/** The people at the applications: users with a session and without, former users, strangers. */
export class Visitors {
  readonly #ledger: Ledger;
  readonly #service: SessionService;
  readonly #inspection: Inspection;
  readonly #random: SeededRandom;
  readonly #tokens = new Map<string, string>();
  readonly #away: string[] = [];
  readonly #ended: string[] = [];
  readonly #signCalls = new Map<Application, number>();
  /** The actions of visitors, each with its share of the visits. */
  readonly #visits: readonly (readonly [part: number, visit: Visit])[] = [
    [0.495, (application) => this.#check(application, this.#anyToken())],
    [0.08, (application) => this.#check(application, this.#anyToken(), '/managers')],
    [0.08, (application) => this.#check(application, this.#random.pick(this.#ended))],
    [0.08, (application) => this.#check(application, `${TOKEN_PREFIX.toUpperCase()}${randomUUID()}`)],
    [0.02, (application) => this.#inspection.checkWithoutToken(application)],
    [0.01, (application) => this.#inspection.leaveEarly(application, this.#anyToken())],
    [0.05, (application) => this.#signing(application, () => this.#signIn(application))],
    [0.02, (application) => this.#signing(application, () => this.#signOut(application))],
    [0.01, () => this.#revoke()],
    [0.04, (application) => this.#cookie(application, OWN_PAGES)],
    [0.03, (application) => this.#cookie(application, FOREIGN_PAGES)],
    [0.03, (application) => this.#socket(application)],
    [0.02, (application) => this.#socket(application, OWN_PAGES)],
    [0.01, (application) => this.#socket(application, FOREIGN_PAGES)],
    [
      0.01,
      (application) =>
        this.#inspection.forgetUser(application, `user-${Math.floor(this.#random.next() * USERS)}`),
    ],
    [0.01, (application) => this.#forget(application)],
    [0.005, (application) => this.#inspection.flood(application)],
  ];

  constructor(ledger: Ledger, service: SessionService, inspection: Inspection, random: SeededRandom) {
    this.#ledger = ledger;
    this.#service = service;
    this.#inspection = inspection;
    this.#random = random;
    for (let number = 0; number < USERS; number += 1)
      this.#enter(`user-${number}`, `${TOKEN_PREFIX}user-${number}.first`);
  }

  async visit(application: Application): Promise<void> {
    let place = this.#random.next();
    for (const [part, visit] of this.#visits) {
      place -= part;
      if (place < 0) return visit(application);
    }
  }

  #enter(username: string, token: string): void {
    this.#ledger.begin(token, username);
    this.#tokens.set(username, token);
  }

  /** Some users come much more often than others. */
  #anyToken(): string | undefined {
    const tokens = [...this.#tokens.values()];
    return tokens[Math.floor(this.#random.next() ** 3 * tokens.length)];
  }

  async #check(
    application: Application,
    token: string | undefined,
    path: '/me' | '/managers' = '/me',
  ): Promise<void> {
    if (token !== undefined) await this.#inspection.check(application, token, path);
  }

  async #cookie(application: Application, pages: readonly Page[]): Promise<void> {
    const [token, page] = [this.#anyToken(), this.#random.pick(pages)];
    if (token !== undefined && page !== undefined)
      await this.#inspection.checkCookie(application, token, page);
  }

  /** Sometimes with the session of a former user. */
  async #socket(application: Application, pages: readonly Page[] = []): Promise<void> {
    const token = this.#random.next() < 0.1 ? this.#random.pick(this.#ended) : this.#anyToken();
    const forMs = this.#random.between(0, SOCKET_MS);
    if (token !== undefined)
      await this.#inspection.openSocket(application, token, this.#random.pick(pages), forMs);
  }

  async #forget(application: Application): Promise<void> {
    const token = this.#anyToken();
    if (token !== undefined) await this.#inspection.forget(application, token);
  }

  /** Makes a call of those that have no limit but this. */
  async #signing(application: Application, call: () => Promise<void>): Promise<void> {
    const running = this.#signCalls.get(application) ?? 0;
    if (running >= MAX_SIGN_CALLS) return;
    this.#signCalls.set(application, running + 1);
    await call();
    this.#signCalls.set(application, (this.#signCalls.get(application) ?? 0) - 1);
  }

  /** Signs in a user who is signed out. If all are signed in, guesses a password. */
  async #signIn(application: Application): Promise<void> {
    const username = this.#away.shift();
    if (username === undefined) return this.#inspection.guessPassword(application, 'user-1');
    const token = await this.#inspection.signIn(application, username, PASSWORD);
    if (token === undefined) this.#away.push(username);
    else {
      this.#enter(username, token);
      this.#ledger.known(token, application.name);
    }
  }

  /** The session is revoked afterwards, with any reply. */
  async #signOut(application: Application): Promise<void> {
    const token = this.#leave();
    if (token === undefined) return;
    this.#ledger.ending(token);
    await this.#inspection.signOut(application, token);
    this.#service.revoke(token);
  }

  #revoke(): Promise<void> {
    const token = this.#leave();
    if (token !== undefined) {
      this.#service.revoke(token);
      this.#inspection.figures.sessions.add('revoked');
    }
    return Promise.resolve();
  }

  #leave(): string | undefined {
    const token = this.#anyToken();
    const username = token && this.#ledger.usernameOf(token);
    if (token === undefined || username === undefined) return undefined;
    this.#tokens.delete(username);
    this.#away.push(username);
    this.#ended.push(token);
    if (this.#ended.length > ENDED_IN_USE) this.#ended.shift();
    return token;
  }
}
