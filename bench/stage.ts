import type { AppApi, AppOrder } from './processes/app.worker.js';
import type { FarEndApi } from './processes/far-end.worker.js';
import type { LoadApi } from './processes/load.worker.js';
import type { SessionServiceApi, SessionServiceSettings } from './processes/session-service.worker.js';
import { Worker, type WorkerOptions } from './processes/worker.js';
import type { Handlers } from './calls.js';

interface Closable {
  stop(): Promise<void>;
}

/** A server of the bench, and its process. */
interface Running<Api extends Handlers> {
  readonly worker: Worker<Api>;
  readonly url: string;
}

export type RunningService = Running<SessionServiceApi>;
export type RunningApp = Running<AppApi>;
/** A session service, and the load of the application that calls it. */
export type RunningFarEnd = Running<FarEndApi>;

/** The processes of one question: started here, and all of them ended at its end, also when it fails. */
export class Stage {
  readonly #running: Closable[] = [];

  /** Starts any worker of `processes/`. */
  worker<Api extends Handlers>(file: string, options?: WorkerOptions): Worker<Api> {
    return this.keep(new Worker<Api>(new URL(`./processes/${file}.worker.js`, import.meta.url), options));
  }

  async service(settings: Partial<SessionServiceSettings> = {}): Promise<RunningService> {
    const worker = this.worker<SessionServiceApi>('session-service');
    return { worker, url: await worker.call('start', { latencyMs: 0, ...settings }) };
  }

  async farEnd(settings: Partial<SessionServiceSettings> = {}): Promise<RunningFarEnd> {
    const worker = this.worker<FarEndApi>('far-end');
    return { worker, url: await worker.call('start', { latencyMs: 0, ...settings }) };
  }

  app(order: AppOrder, options?: WorkerOptions): Promise<RunningApp> {
    return this.apps(options)(order);
  }

  /**
   * Returns a function that starts applications in one process. Two processes of one variant differ by a tenth,
   * because of what V8 has compiled of the framework, and when; in one process, all have the same.
   */
  apps(options?: WorkerOptions): (order: AppOrder) => Promise<RunningApp> {
    const worker = this.worker<AppApi>('app', options);
    return async (order) => ({ worker, url: await worker.call('start', order) });
  }

  load(): Worker<LoadApi> {
    return this.worker('load');
  }

  keep<Kept extends Closable>(closable: Kept): Kept {
    this.#running.push(closable);
    return closable;
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((closable) => closable.stop()));
  }
}
