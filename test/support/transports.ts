import { Agent } from 'node:http';
import type { SessionAuthHttpOptions } from 'nestjs-session-auth';

/** The two ways to the session service; what a reply means is the same over both. */
export const TRANSPORTS: readonly (readonly [name: string, http: () => SessionAuthHttpOptions])[] = [
  ['the built-in pool', (): SessionAuthHttpOptions => ({})],
  ['an agent of the application', (): SessionAuthHttpOptions => ({ httpAgent: new Agent({ keepAlive: true }) })],
];
