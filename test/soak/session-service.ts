import { Child } from './child.js';
import type { AnswerFault } from './faulty-answer.js';
import type { Ledger } from './ledger.js';
import type { SessionServiceApi } from './session-service.process.js';
import type { Stalls } from './stalls.js';

/** Time for the stall of a freeze to be reported. */
const THAW_MS = 250;

/** The session service, in a process that can be killed and comes back on its port. */
export class SessionService {
  readonly #ledger: Ledger;
  readonly #stalls: Stalls;
  #child: Child<SessionServiceApi>;
  #port = 0;
  #isFrozen = false;

  constructor(ledger: Ledger, stalls: Stalls) {
    this.#ledger = ledger;
    this.#stalls = stalls;
    this.#child = this.#newChild();
  }

  #newChild(): Child<SessionServiceApi> {
    return new Child(new URL('./session-service.process.js', import.meta.url), (stalledMs) => {
      // A frozen service stalls by our own hand.
      if (!this.#isFrozen) this.#stalls.add(stalledMs);
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts to listen, knowing which sessions have ended. */
  async start(): Promise<void> {
    const ended = this.#ledger.endingTokens();
    this.#port = await this.#child.call('start', { port: this.#port, ended });
    this.#ledger.ended(ended);
  }

  /**
   * Ends a session without the applications' knowledge. A service that is killed meanwhile receives the
   * revocation when it restarts.
   */
  revoke(token: string): void {
    this.#ledger.ending(token);
    this.#child.call('revoke', token).then(
      () => this.#ledger.ended([token]),
      () => undefined,
    );
  }

  async kill(): Promise<void> {
    this.#child.signal('SIGKILL');
    await this.#child.end;
  }

  async comeBack(): Promise<void> {
    this.#child = this.#newChild();
    await this.start();
  }

  freeze(): void {
    this.#isFrozen = true;
    this.#child.signal('SIGSTOP');
  }

  thaw(): void {
    this.#child.signal('SIGCONT');
    setTimeout(() => (this.#isFrozen = false), THAW_MS).unref();
  }

  setFault(fault: AnswerFault | 'anything' | undefined): Promise<void> {
    return this.#child.call('setFault', fault);
  }

  openSockets(): Promise<number> {
    return this.#child.call('openSockets');
  }

  stops(): Promise<boolean> {
    return this.#child.stops();
  }
}
