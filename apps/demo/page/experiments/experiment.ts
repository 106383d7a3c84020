import { type CacheChoice } from '../../src/backend/cache-choice.js';
import { type ConsoleInfo } from '../../src/console/messages.js';
import { type Fault } from '../../src/session-service/fault.js';
import { type Client } from '../backend/use-client.js';
import { endSessions, putCache, putFault } from '../controls/console-api.js';
import { type LoadRun } from '../controls/use-load.js';

/** What an experiment may use to set its scene. */
export interface Scene {
  readonly client: Client;
  readonly user: ConsoleInfo['users'][number];
  readonly run: LoadRun;
}

/** Something to try, what to watch meanwhile, and a button that sets the scene. */
export interface Experiment {
  readonly title: string;
  readonly watch: string;
  readonly button: string;
  readonly then: string;
  readonly set: (scene: Scene) => Promise<void>;
}

export const EXPERIMENTS: readonly Experiment[] = [
  {
    title: 'A stampede, one call',
    watch: 'With the memory off, 500 requests bring the same token at once. “Shared flight” jumps, while “Asked” hardly grows.',
    button: 'Send the stampede',
    then: 'Read the count of calls under Load.',
    set: async (scene: Scene): Promise<void> => {
      const token = await signedIn(scene, { ttlSeconds: 0 });
      await scene.run.start('stampede', token);
    },
  },
  {
    title: 'The breaker opens',
    watch: 'The service answers 500 under a steady load. The breaker opens, checks are refused at once with 503, and calls stop growing.',
    button: 'Break it under load',
    then: 'When it is open, choose “Healthy” under The session service: one probe, and it closes.',
    set: async (scene: Scene): Promise<void> => {
      const token = await signedIn(scene, { ttlSeconds: 0 });
      await putFault('broken');
      await scene.run.start('steady', token);
    },
  },
  {
    title: 'Sign-out works at once',
    watch: 'A session is remembered for five minutes. Signing out here drops it from the memory too: the old token gets 401 at once.',
    button: 'Sign in, remembered',
    then: 'In pane A: try a route, sign out, then try the old token again.',
    set: async (scene: Scene): Promise<void> => {
      await signedIn(scene, { ttlSeconds: 300 });
    },
  },
  {
    title: 'The price of memory',
    watch: 'A remembered session is ended at the service, behind the back of this backend. It lives on here until it lapses.',
    button: 'End a remembered session',
    then: 'In pane A: GET /api/me answers 200 for up to 30 s, or until POST /api/payroll/run, which always asks, learns of the end.',
    set: async (scene: Scene): Promise<void> => {
      await signedIn(scene, { ttlSeconds: 30 });
      await endSessions();
    },
  },
];

/** A service without a fault, a memory as wanted, and a new session in pane A, which has called one route already. */
async function signedIn({ client, user }: Scene, cache: Pick<CacheChoice, 'ttlSeconds'>): Promise<string> {
  const healthy: Fault = 'none';
  await putFault(healthy);
  await putCache({ ...cache, refreshAhead: false, staleIfError: false });
  const token = await client.signIn(user.username, user.password);
  if (token === undefined) throw new Error('Nobody could be signed in: pane A says why.');
  return token;
}
