import { type DemoUser } from '../session-service/demo-user.js';

/** What the parts of the demo read from `ConfigService`. */
export interface DemoConfig {
  readonly SESSION_SERVICE_URL: string;
  readonly SESSION_SERVICE_API_KEY: string;
  readonly DEMO_USERS: readonly DemoUser[];
}
