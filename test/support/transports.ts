import { Agent } from 'node:http';
import type { SessionAuthHttpOptions } from 'nestjs-session-auth';

/** The two transports to the session service; a reply has the same meaning over both. */
export const TRANSPORTS: readonly (readonly [name: string, http: () => SessionAuthHttpOptions])[] = [
  ['the built-in pool', (): SessionAuthHttpOptions => ({})],
  [
    'an agent of the application',
    (): SessionAuthHttpOptions => ({ httpAgent: new Agent({ keepAlive: true }) }),
  ],
];
