import { setTimeout as wait } from 'node:timers/promises';
import { type BreakerState, SessionAuthEvents } from 'nestjs-session-auth';
import { type Fault } from '../../session-service/fault.js';
import { type ServiceControls } from '../../session-service/connected-session-service.js';
import { type ConsoleParts } from '../console-parts.js';
import { every } from '../load/every.js';
import { type DrivenReply, type DrivenRequest, LoadDriver } from '../load/load-driver.js';
import { type MarkKind } from '../messages.js';
import { kindOfReply, noRequests } from './reply-kind.js';

const AT_ONCE = 500;
const POLL_MS = 10;
const PATIENCE_MS = 20_000;

/** The parts of the demo that a scene uses. */
export interface StageParts {
  readonly parts: ConsoleParts;
  readonly controls: ServiceControls;
  /** Where the demo listens. */
  readonly origin: string;
  /** Aborted when the visitor leaves. */
  readonly signal: AbortSignal;
  /** Called when a step begins. */
  readonly onStep: (step: number) => void;
}

/** The tools of a scene: real requests, and the controls of the demo. */
export class Stage {
  readonly requests = noRequests();
  lost = 0;
  readonly #parts: StageParts;
  readonly #driver: LoadDriver;
  readonly #tokens: string[] = [];
  readonly #stops = new Set<() => void>();

  constructor(parts: StageParts) {
    this.#parts = parts;
    this.#driver = new LoadDriver(parts.origin, AT_ONCE);
  }

  /** Begins a step, and gives it its time. */
  async step(step: number, ms = 0): Promise<void> {
    this.#parts.onStep(step);
    await this.pass(ms);
  }

  /** Resolves after a time. Rejects when the visitor leaves. */
  async pass(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.#parts.signal });
  }

  /** Resolves when a condition holds; rejects, naming it, if it takes too long. */
  async until(what: string, holds: () => boolean): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (!holds()) {
      if (performance.now() > giveUpAt) throw new Error(`The scene gave up waiting: ${what}.`);
      await this.pass(POLL_MS);
    }
  }

  /**
   * Signs the first `users` of the demo in by turns, `count` times in all, one after the other. Resolves to
   * the tokens.
   */
  async signIn(count = 1, users = 1): Promise<readonly string[]> {
    for (let opened = 0; opened < count; opened += 1) {
      const { username, password } = this.#parts.parts.info.users[opened % users] ?? {};
      const reply = await this.#driver.send({
        method: 'POST',
        path: '/api/session',
        json: { username, password },
      });
      if (reply?.status !== 200) throw new Error('The scene could not sign in.');
      this.#tokens.push((JSON.parse(reply.body) as { readonly token: string }).token);
    }
    return this.#tokens.slice(-count);
  }

  /** Opens connections in advance. */
  warm(connections: number): Promise<void> {
    return this.#driver.warm(connections, '/api/health');
  }

  /** Sends one request, and counts its outcome. */
  async send(request: DrivenRequest): Promise<DrivenReply | undefined> {
    const reply = await this.#driver.send(request);
    if (reply) this.requests[kindOfReply(reply)] += 1;
    else this.lost += 1;
    return reply;
  }

  /**
   * Sends `GET /api/me` at a fixed rate, with the tokens in turn. Returns a function that stops it, and
   * resolves to the replies.
   */
  traffic(perSecond: number, tokenOf: (turn: number) => string): () => Promise<readonly TimedReply[]> {
    const sent: Promise<DrivenReply | undefined>[] = [];
    const stop = every(perSecond, (turn) => sent.push(this.send({ path: '/api/me', token: tokenOf(turn) })));
    this.stopWithScene(stop);
    return async () => {
      stop();
      const replies = await Promise.all(sent);
      return replies.flatMap((reply) => (reply ? [{ ...reply, kind: kindOfReply(reply) }] : []));
    };
  }

  /** Registers a function that must be called when the scene ends, and returns it. */
  stopWithScene(stop: () => void): () => void {
    this.#stops.add(stop);
    return stop;
  }

  /** Sets the fault of the session service. */
  fault(fault: Fault): Promise<void> {
    return this.#parts.controls.setFault(fault);
  }

  /** Ends a session at the session service, without notice to the backend. */
  endElsewhere(token: string): Promise<void> {
    return this.#parts.controls.endSession(token);
  }

  /** Starts a new instance of the backend, which takes over; the old one completes its requests. */
  deploy(): Promise<void> {
    const { backend } = this.#parts.parts;
    return backend.restart(backend.settings);
  }

  /** The breaker of known sessions. */
  get breaker(): BreakerState {
    return this.#parts.parts.backend.app.get(SessionAuthEvents).serviceStatus.breakers.known;
  }

  /** Stops all traffic, and ends the sessions of the scene. */
  async clear(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#driver.close();
    await Promise.all(this.#tokens.map((token) => this.endElsewhere(token).catch(() => undefined)));
  }
}

/** A reply, and the outcome of its request. */
export type TimedReply = DrivenReply & { readonly kind: MarkKind };
