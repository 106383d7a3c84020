import { type CacheChoice } from '../../src/backend/cache-choice.js';
import { type ConsoleInfo } from '../../src/console/messages.js';
import { type Fault } from '../../src/session-service/fault.js';
import { type Client } from '../backend/use-client.js';
import { endSessions, putCache, putFault } from '../controls/console-api.js';
import { type LoadRun } from '../controls/use-load.js';

/** What the setup of an experiment can use. */
export interface Scene {
  readonly client: Client;
  readonly user: ConsoleInfo['users'][number];
  readonly run: LoadRun;
}

/** An experiment: what to watch, a button that sets it up, and the next step. */
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
    watch:
      'With the session cache off, 500 concurrent requests present the same token. “Joined a call” jumps, while “Called the service” hardly grows.',
    button: 'Send the stampede',
    then: 'See the number of calls under Load.',
    set: async (scene: Scene): Promise<void> => {
      const token = await setUp(scene, { ttlSeconds: 0 });
      await scene.run.start('stampede', token);
    },
  },
  {
    title: 'The breaker opens',
    watch: 'The session service answers 500 under a steady load. The breaker opens, requests get 503 at once, and the calls stop.',
    button: 'Break it under load',
    then: 'When the breaker is open, choose “Healthy” under Session service: one successful probe closes it.',
    set: async (scene: Scene): Promise<void> => {
      const token = await setUp(scene, { ttlSeconds: 0 });
      await putFault('broken');
      await scene.run.start('steady', token);
    },
  },
  {
    title: 'Sign-out works at once',
    watch: 'The session cache keeps a session for five minutes. Signing out here evicts it at once: the old token gets 401.',
    button: 'Sign in with a cached session',
    then: 'As user A: try a route, sign out, then try the old token again.',
    set: async (scene: Scene): Promise<void> => {
      await setUp(scene, { ttlSeconds: 300 });
    },
  },
  {
    title: 'The price of caching',
    watch:
      'A cached session ends at the session service, and this backend is not notified. It still works here until its cache entry expires.',
    button: 'End a cached session',
    then: 'As user A: GET /api/me gets 200 for up to 30 s, or until POST /api/payroll/run, which always calls the session service, gets 401.',
    set: async (scene: Scene): Promise<void> => {
      await setUp(scene, { ttlSeconds: 30 });
      await endSessions();
    },
  },
];

/** Clears the fault, sets the session cache, and signs user A in, which calls one route. Returns the token. */
async function setUp({ client, user }: Scene, cache: Pick<CacheChoice, 'ttlSeconds'>): Promise<string> {
  const healthy: Fault = 'none';
  await putFault(healthy);
  await putCache({ ...cache, refreshAhead: false, staleIfError: false });
  const token = await client.signIn(user.username, user.password);
  if (token === undefined) throw new Error('The sign-in failed: the last exchange of user A shows why.');
  return token;
}
