import { setTimeout as delay } from 'node:timers/promises';
import type { Application } from './application.js';
import { ANSWER_FAULTS, type AnswerFault } from './faulty-answer.js';
import type { Inspection } from './inspection.js';
import type { SeededRandom } from './seeded-random.js';
import type { SessionService } from './session-service.js';
import { MAX_LIMITED_MS, MAX_RECOVERY_MS, TIMEOUT_MS } from './settings.js';
import type { Stalls } from './stalls.js';
import type { Violations } from './violations.js';
import type { Weather } from './weather.js';

type Fault = 'kill' | 'freeze' | 'anything' | AnswerFault;

export const FAULTS: readonly Fault[] = ['kill', 'freeze', 'anything', ...ANSWER_FAULTS];

/** Of each fault, and of each calm after it. */
const LEAST_MS = 300;
const MOST_MS = 2_500;

/** For the last check of the time of a fault to be answered after its deadline. */
const LANDING_MS = 100;

/** The parts of a soak that faults need. */
interface FaultParts {
  readonly service: SessionService;
  readonly applications: readonly Application[];
  /** Of a session that never ends. */
  readonly token: string;
  readonly weather: Weather;
  readonly inspection: Inspection;
  readonly violations: Violations;
  readonly stalls: Stalls;
  readonly random: SeededRandom;
}

/** The time that an application has to serve again. */
interface Recovery {
  readonly overAt: number;
  readonly limitMs: number;
  /** Stalls of the machine since then. */
  readonly lost: () => number;
}

/** The faults of the service, one after the other, each followed by a calm. */
export class Faults {
  readonly #parts: FaultParts;

  constructor(parts: FaultParts) {
    this.#parts = parts;
  }

  /** Every fault once, in any order, or as many as there is time for. */
  async round(until = Infinity): Promise<void> {
    const { random, weather, inspection } = this.#parts;
    for (const fault of random.shuffled(FAULTS)) {
      if (performance.now() >= until) return;
      inspection.figures.faults.add(fault);
      weather.faultBegins(fault);
      await this.#suffer(fault, random.between(LEAST_MS, MOST_MS));
      await this.#recover(fault);
      weather.recovered();
      await delay(random.between(LEAST_MS, MOST_MS));
    }
  }

  async #suffer(fault: Fault, ms: number): Promise<void> {
    const { service } = this.#parts;
    if (fault === 'kill') {
      await service.kill();
      await delay(ms);
      await service.comeBack();
    } else if (fault === 'freeze') {
      service.freeze();
      await delay(ms);
      service.thaw();
    } else {
      await service.setFault(fault);
      await delay(ms);
      await service.setFault(undefined);
    }
  }

  async #recover(fault: Fault): Promise<void> {
    const isLimited = fault === 'too many requests' || fault === 'anything';
    const limitMs = MAX_RECOVERY_MS + (isLimited ? MAX_LIMITED_MS : 0);
    const { figures } = this.#parts.inspection;
    const overAt = performance.now();
    const recoveryMs = await this.#untilServed(overAt, limitMs);
    figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, recoveryMs);
    // Checks of the time of the fault may still fail, and open the circuit once more; requests of now may
    // share them.
    await delay(Math.max(1, overAt + TIMEOUT_MS + LANDING_MS - performance.now()));
    await this.#untilServed(overAt, limitMs);
  }

  /**
   * Milliseconds until each application lets a user in again that it has to ask about, or that it is overdue.
   */
  async #untilServed(overAt: number, limitMs: number): Promise<number> {
    const { applications, stalls } = this.#parts;
    const lostBefore = stalls.lostMs;
    const lost = (): number => stalls.lostMs - lostBefore;
    const recoveries = applications.map((application) =>
      this.#untilServedBy(application, { overAt, limitMs, lost }),
    );
    return Math.max(...(await Promise.all(recoveries)));
  }

  async #untilServedBy(application: Application, { overAt, limitMs, lost }: Recovery): Promise<number> {
    const { token, inspection, weather, violations } = this.#parts;
    const elapsedMs = (): number => performance.now() - overAt - lost();
    while (elapsedMs() <= limitMs) {
      if ((await inspection.check(application, token, '/fresh')) === 200) return elapsedMs();
      await delay(20);
    }
    const ms = performance.now() - overAt;
    violations.late('no recovery', `${application.name}, ${weather.lately}, after ${Math.round(ms)} ms`, {
      ms,
      lostMs: lost(),
    });
    return elapsedMs();
  }
}
