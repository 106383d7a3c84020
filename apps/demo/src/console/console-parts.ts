import { type Mischief } from '../session-service/connected-session-service.js';
import { type RestartableBackend } from '../serving/restartable-backend.js';
import { type ConsoleInfo } from './messages.js';

/** What the console looks at, and what it may touch. */
export abstract class ConsoleParts {
  abstract readonly backend: RestartableBackend;
  abstract readonly info: ConsoleInfo;
  /** Only with the embedded session service. */
  abstract readonly mischief?: Mischief;
}
