import { LapsingMap } from './lapsing-map.js';

/** For so long one end of a session is told once, however often it is heard of: here, from the service, from other instances. */
const MEMORY_MS = 60_000;
const MAX_ENTRIES = 10_000;

/** Tells of sessions that are over, by the digests of their tokens. */
export class EndedSessions {
  readonly #tell: (token: string) => void;
  readonly #told: LapsingMap<true>;

  constructor(tell: (token: string) => void, now: () => number = () => performance.now()) {
    this.#tell = tell;
    this.#told = new LapsingMap({ maxEntries: MAX_ENTRIES, lifetimeMs: MEMORY_MS }, now);
  }

  /** A session is over. */
  add(token: string): void {
    if (this.#told.get(token)) return;
    this.#told.set(token, true);
    this.#tell(token);
  }

  /** A sign-in gave this token again. */
  pardon(token: string): void {
    this.#told.delete(token);
  }
}
