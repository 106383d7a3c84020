import { type Mischief } from '../session-service/connected-session-service.js';
import { type CacheChoice } from '../backend/cache-choice.js';
import { type RestartableApp } from '../serving/restartable-app.js';
import { type ConsoleInfo } from './messages.js';

/** What the console looks at, and what it may touch. */
export abstract class ConsoleParts {
  abstract readonly backend: RestartableApp<CacheChoice>;
  abstract readonly info: ConsoleInfo;
  /** Only with the embedded session service. */
  abstract readonly mischief?: Mischief;
}
