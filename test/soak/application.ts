import type { ApplicationApi, Usage } from './application.process.js';
import { ApplicationClient } from './application-client.js';
import { Child } from './child.js';
import { isInFleet, SECRET, type ApplicationName } from './settings.js';
import type { Stalls } from './stalls.js';
import type { Violations } from './violations.js';

interface Surroundings {
  readonly baseUrl: string;
  readonly redisPort: number;
  readonly stalls: Stalls;
  readonly violations: Violations;
}

/** An application under test, in a separate process, and its caller. */
export class Application {
  readonly name: ApplicationName;
  readonly client: ApplicationClient;
  readonly #child: Child<ApplicationApi>;
  #floods = 0;
  #floodedAt = -Infinity;

  private constructor(name: ApplicationName, child: Child<ApplicationApi>, client: ApplicationClient) {
    this.name = name;
    this.#child = child;
    this.client = client;
  }

  /** Starts it. It must not end before it is asked to, and say nothing secret. */
  static async start(
    name: ApplicationName,
    { baseUrl, redisPort, stalls, violations }: Surroundings,
  ): Promise<Application> {
    const stalled = (stalledMs: number): void => stalls.add(stalledMs);
    const child = new Child<ApplicationApi>(
      new URL('./application.process.js', import.meta.url),
      stalled,
      (output) =>
        violations.unless(!output.includes(SECRET), 'a secret in the output of an application', name),
    );
    const url = await child.call('start', { name, baseUrl, ...(isInFleet(name) && { redisPort }) });
    return new Application(name, child, new ApplicationClient(url, stalls));
  }

  async flood(run: () => Promise<void>): Promise<void> {
    this.#floods += 1;
    await run();
    this.#floods -= 1;
    this.#floodedAt = performance.now();
  }

  /** Whether strangers that came since then may have met a flood. */
  wasFloodedSince(sentAt: number): boolean {
    return this.#floods > 0 || this.#floodedAt >= sentAt;
  }

  usage(): Promise<Usage> {
    return this.#child.call('usage');
  }

  stops(): Promise<boolean> {
    return this.#child.stops();
  }
}
