import type { Transport } from './transport.js';

/**
 * A kind of context besides HTTP, in a folder of its own. An application loads it if it has handlers of the
 * kind.
 */
export interface ContextKind {
  readonly transport: Transport;
  /** Called with each class that has handlers of the kind, before Nest builds them. */
  prepareHandlers?(owner: object): void;
  /**
   * Called with each module that has the provider by which the kind is recognised, and its value, before Nest
   * initialises the module.
   */
  prepareModule?(module: object, value: object): void;
}
