import type { LoadApi } from './load.worker.js';
import './load.worker.js';
import type { SessionServiceApi } from './session-service.worker.js';
import './session-service.worker.js';

/** The load and the session service in one process. */
export type FarEndApi = LoadApi & SessionServiceApi;

/**
 * Never sleeps: on a virtual machine, waking a process may take longer than a request, and would be counted as
 * the application's, the more often the slower it is.
 */
function stayAwake(): void {
  setImmediate(stayAwake);
}
stayAwake();
