import { type ServiceControls } from '../session-service/connected-session-service.js';
import { type CacheChoice } from '../backend/cache-choice.js';
import { type RestartableApp } from '../serving/restartable-app.js';
import { type RequestTracer } from './live/request-tracer.js';
import { type ConsoleInfo } from './messages.js';

/** The parts of the demo that the console shows and controls. */
export abstract class ConsoleParts {
  abstract readonly backend: RestartableApp<CacheChoice>;
  abstract readonly tracer: RequestTracer;
  abstract readonly info: ConsoleInfo;
  /** Present only with the embedded session service. */
  abstract readonly serviceControls?: ServiceControls;
}
