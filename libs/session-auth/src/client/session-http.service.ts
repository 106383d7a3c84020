import type { HttpService } from '@nestjs/axios';
import { rejectOwnProvider } from '../contract/errors.js';

/**
 * Marks the instances. They extend `HttpService`, so that they can't extend {@link SessionHttpService} too.
 */
export const SESSION_HTTP = Symbol('SessionHttpService');

/**
 * The type of `HttpService` for the compiler alone: the class itself imports axios, which most applications
 * do not need here.
 */
const HttpServiceType = Object as unknown as abstract new () => HttpService;

/**
 * The `HttpService` that this module uses for its calls to the session service, and for nothing else. Inject
 * it to add interceptors, or to set agents on `axiosRef.defaults`. Its defaults are minimal: no proxy from
 * the environment, no redirects, no transformations, and no status rejects.
 *
 * It is created for the first class or factory that injects it, because it loads axios. Outside of a
 * constructor, get it with `await app.resolve(SessionHttpService)`.
 */
export abstract class SessionHttpService extends HttpServiceType {
  /** @internal Only a module that lists this class among its providers creates an instance. */
  constructor() {
    super();
    rejectOwnProvider('SessionHttpService');
  }

  /** Returns whether a value is the service of a registration. */
  static override [Symbol.hasInstance](candidate: unknown): boolean {
    return typeof candidate === 'object' && candidate !== null && SESSION_HTTP in candidate;
  }
}
