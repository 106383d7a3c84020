import { DEMO_ACCOUNTS, DEMO_API_KEY, type DemoAccount, startReferenceService } from 'session-service';
import { type ConnectedSessionService } from './connected-session-service.js';
import { type DemoUser } from './demo-user.js';
import { endSession } from './end-session.js';
import { FaultProxy } from './fault-proxy.js';
import { openSessions } from './open-sessions.js';

/**
 * Starts the reference session service in memory on a free loopback port, with demo users, behind a proxy
 * that fails on demand.
 */
export async function startEmbeddedSessionService(): Promise<ConnectedSessionService> {
  const service = await startReferenceService({ seed: true, logger: ['warn', 'error', 'fatal'] });
  const proxy = new FaultProxy(service.url);
  const serviceControls = {
    get fault() {
      return proxy.fault;
    },
    setFault: proxy.setFault.bind(proxy),
    endAllSessions: service.endAllSessions.bind(service),
    endSession: (token: string) => endSession(service.url, token),
    openSessions: (count: number) => openSessions(service.url, count),
  };
  const close = async (): Promise<void> => {
    await proxy.close();
    await service.close();
  };
  return {
    url: await proxy.open(),
    apiKey: DEMO_API_KEY,
    users: DEMO_ACCOUNTS.map(userOf),
    serviceControls,
    close,
  };
}

function userOf({ password, pending, profile: { username, role, sub_role } }: DemoAccount): DemoUser {
  const roles = [role, sub_role].filter((name) => name !== undefined).join(', ');
  return { username, password, about: pending ? 'accepted, not signed in' : roles };
}
