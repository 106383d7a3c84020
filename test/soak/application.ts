import type { ApplicationApi, Usage } from './application.process.js';
import { ApplicationClient } from './application-client.js';
import { Child } from './child.js';
import { SECRET, type ApplicationName } from './settings.js';
import type { Stalls } from './stalls.js';
import type { Violations } from './violations.js';

/** An application under test, in a process of its own, and its caller. */
export class Application {
  readonly name: ApplicationName;
  readonly client: ApplicationClient;
  readonly #child: Child<ApplicationApi>;

  private constructor(name: ApplicationName, child: Child<ApplicationApi>, client: ApplicationClient) {
    this.name = name;
    this.#child = child;
    this.client = client;
  }

  /** Starts it. It must not end before it is asked to, and say nothing secret. */
  static async start(name: ApplicationName, baseUrl: string, stalls: Stalls, violations: Violations): Promise<Application> {
    const child = new Child<ApplicationApi>(new URL('./application.process.js', import.meta.url), (output) =>
      violations.unless(!output.includes(SECRET), 'a secret in the output of an application', name),
    );
    const url = await child.call('start', { platform: name, baseUrl });
    return new Application(name, child, new ApplicationClient(url, stalls));
  }

  usage(): Promise<Usage> {
    return this.#child.call('usage');
  }

  stops(): Promise<boolean> {
    return this.#child.stops();
  }
}
