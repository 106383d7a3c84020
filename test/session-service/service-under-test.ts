import { describe } from '@jest/globals';
import { startReferenceService } from 'session-service';
import { describeWithPostgres, PostgresServer } from '../support/postgres.js';

export interface Account {
  readonly username: string;
  readonly password: string;
}

/** The service that the contract is checked against. */
export interface ServiceUnderTest {
  readonly url: string;
  readonly apiKey: string;
  close(): Promise<void>;
}

/** A service that the contract can be checked against. */
interface ServiceCandidate {
  readonly name: string;
  /** Skips tests that cannot run on this machine. */
  readonly suite: typeof describe | typeof describe.skip;
  readonly open: () => Promise<ServiceUnderTest>;
}

const { SESSION_SERVICE_URL, SESSION_SERVICE_API_KEY } = process.env;

/**
 * Whether the suite checks our reference service, and so also our decisions where the interface leaves them
 * open.
 */
export const checksReferenceService = SESSION_SERVICE_URL === undefined;

/** The users that may be signed in, by their role in the suite. */
export const accounts: Readonly<
  Record<'manager' | 'recruiter' | 'newhire' | 'pending', Account | undefined>
> = {
  manager: accountFrom('SESSION_SERVICE_MANAGER', 'manager:manager-demo'),
  recruiter: accountFrom('SESSION_SERVICE_RECRUITER', 'recruiter:recruiter-demo'),
  newhire: accountFrom('SESSION_SERVICE_NEWHIRE', 'newhire:newhire-demo'),
  pending: accountFrom('SESSION_SERVICE_PENDING', 'pending:pending-demo'),
};

/**
 * The services that the contract is checked against: the one that the environment names, or else ours on each
 * database.
 */
export const servicesUnderTest: readonly ServiceCandidate[] = checksReferenceService
  ? [
      { name: 'the reference service on SQLite', suite: describe, open: openReferenceService },
      {
        name: 'the reference service on PostgreSQL',
        suite: describeWithPostgres,
        open: openReferenceServiceOnPostgres,
      },
    ]
  : [{ name: 'the service that SESSION_SERVICE_URL names', suite: describe, open: openNamedService }];

async function openReferenceService(databaseUrl?: string): Promise<ServiceUnderTest> {
  return { ...(await startReferenceService({ logger: false, databaseUrl })), apiKey: 'demo-api-key' };
}

async function openReferenceServiceOnPostgres(): Promise<ServiceUnderTest> {
  const server = await PostgresServer.start();
  try {
    const service = await openReferenceService(await server.createDatabase());
    return { ...service, close: () => service.close().then(() => server.stop()) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function openNamedService(): Promise<ServiceUnderTest> {
  if (SESSION_SERVICE_URL === undefined)
    throw new Error('Set SESSION_SERVICE_URL to the base URL of a service.');
  if (!SESSION_SERVICE_API_KEY)
    throw new Error(
      'Set SESSION_SERVICE_API_KEY to an application key of the service at SESSION_SERVICE_URL.',
    );
  if (!accounts.manager)
    throw new Error('Set SESSION_SERVICE_MANAGER to username:password of a user of the service.');
  return Promise.resolve({
    url: SESSION_SERVICE_URL,
    apiKey: SESSION_SERVICE_API_KEY,
    close: () => Promise.resolve(),
  });
}

function accountFrom(variable: string, ofReferenceService: string): Account | undefined {
  const text = checksReferenceService ? ofReferenceService : process.env[variable];
  if (text === undefined) return undefined;
  const colon = text.indexOf(':');
  if (colon < 1) throw new Error(`Set ${variable} to username:password.`);
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
