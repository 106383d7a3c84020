import { DEMO_ACCOUNTS, DEMO_API_KEY, type DemoAccount, startReferenceService } from 'session-service';
import { type ConnectedSessionService } from './connected-session-service.js';
import { type DemoUser } from './demo-user.js';
import { FaultFront } from './fault-front.js';
import { openSessions } from './open-sessions.js';

/** Starts a session service of our own on a free loopback port, in memory, with users to try and a front that can ail. */
export async function startEmbeddedSessionService(): Promise<ConnectedSessionService> {
  const service = await startReferenceService({ seed: true, logger: ['warn', 'error', 'fatal'] });
  const front = new FaultFront(service.url);
  const mischief = {
    get fault() {
      return front.fault;
    },
    ail: front.ail.bind(front),
    endAllSessions: service.endAllSessions.bind(service),
    openSessions: (count: number) => openSessions(service.url, count),
  };
  const close = async (): Promise<void> => {
    await front.close();
    await service.close();
  };
  return { url: await front.open(), apiKey: DEMO_API_KEY, users: DEMO_ACCOUNTS.map(userOf), mischief, close };
}

function userOf({ password, pending, profile: { username, role, sub_role } }: DemoAccount): DemoUser {
  const roles = [role, sub_role].filter((name) => name !== undefined).join(', ');
  return { username, password, about: pending ? 'accepted, not signed in' : roles };
}
