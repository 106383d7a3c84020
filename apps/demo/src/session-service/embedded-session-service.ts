import { DEMO_ACCOUNTS, DEMO_API_KEY, type DemoAccount, startReferenceService } from 'session-service';
import { type ConnectedSessionService } from './connected-session-service.js';
import { DemoUser } from './demo-user.js';

/** Starts a session service of our own on a free loopback port, in memory, with users to try. */
export async function startEmbeddedSessionService(): Promise<ConnectedSessionService> {
  const service = await startReferenceService({ seed: true, logger: ['warn', 'error', 'fatal'] });
  return { url: service.url, apiKey: DEMO_API_KEY, users: DEMO_ACCOUNTS.map(userOf), close: () => service.close() };
}

function userOf({ password, pending, profile: { username, role, sub_role } }: DemoAccount): DemoUser {
  const roles = [role, sub_role].filter((name) => name !== undefined).join(', ');
  return new DemoUser(username, password, pending ? 'accepted, not signed in' : roles);
}
