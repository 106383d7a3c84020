import { Deadlines } from '../../libs/session-auth/src/client/deadline.js';
import type { SessionClient } from '../../libs/session-auth/src/client/session-client.js';
import type { UserRecord } from '../../libs/session-auth/src/contract/record/user-record.js';
import { SessionAuthService } from '../../libs/session-auth/src/module/service/session-auth.service.js';
import { readStoreSettings } from '../../libs/session-auth/src/module/settings/cache-settings.js';
import { RevocationNotifier } from '../../libs/session-auth/src/verifier/revocation/revocation-notifier.js';
import { KnownSessions } from '../../libs/session-auth/src/verifier/lanes/known-sessions.js';
import type { LaneSettings } from '../../libs/session-auth/src/verifier/lanes/lanes.js';
import { ProtectedCheck } from '../../libs/session-auth/src/verifier/lanes/protected-check.js';
import type { CacheSettings } from '../../libs/session-auth/src/verifier/cache/cache-entry.js';
import { SessionCache } from '../../libs/session-auth/src/verifier/cache/session-cache.js';
import { sessionKeysOf, tokenKeyOf, type SessionIdentity } from '../../libs/session-auth/src/contract/session-identity.js';
import { SessionVerifier } from '../../libs/session-auth/src/verifier/session-verifier.js';
import { SessionSeal } from '../../libs/session-auth/src/verifier/shared/session-seal.js';
import { SharedTier } from '../../libs/session-auth/src/verifier/shared/shared-tier.js';
import { MisconfigurationDetector } from '../../libs/session-auth/src/verifier/misconfiguration-detector.js';
import type { SimulatedService, User } from './service.js';
import type { StoreLink } from './store-link.js';
import type { Host } from './host.js';

/** Settings of all instances. */
export interface InstanceSettings {
  readonly memory: CacheSettings;
  readonly protection: LaneSettings;
  /** Timeout of a sign-in, and of a sign-out, in milliseconds. */
  readonly signOutTimeoutMs: number;
}

const BASE_URL = 'https://sessions.example.com/api';
/** Secret of `cache.store`. */
export const SECRET = 'a-secret-of-the-simulation';
const API_KEY = 'a-key-of-the-simulation';
const MAX_SIGN_INS = 100;

/** An instance of the library as the module builds it, with a simulated service and store. */
export interface Instance {
  readonly host: Host;
  readonly verifier: SessionVerifier<User>;
  /** The operations of an application. */
  readonly service: Pick<SessionAuthService, 'signIn' | 'signOut' | 'forget' | 'forgetUser' | 'forgetAll'>;
  readonly link: StoreLink | undefined;
  close(): Promise<void>;
}

/** Builds an instance: all code between its HTTP client and its guard is that of the library. */
export function startInstance(host: Host, service: SimulatedService, link: StoreLink | undefined, set: InstanceSettings): Instance {
  const deadlines = new Deadlines(set.protection.timeoutMs);
  const client = service.clientOf(host);
  const check = new ProtectedCheck<User>((session, deadline) => client.userDetails(session, deadline), deadlines, set.protection, {
    known: new KnownSessions(),
    breakerChanged: () => undefined,
  });
  const surroundings = { authority: 'default', cache: set.memory, baseUrl: BASE_URL, apiKey: API_KEY, timeoutMs: set.protection.timeoutMs };
  const reports = {
    failed: () => undefined,
    clockDiffers: () => undefined,
    busStateChanged: () => undefined,
    unreadable: () => undefined,
    lost: () => undefined,
  };
  const verifier = new SessionVerifier<User>(check, {
    cache: new SessionCache<User>(set.memory),
    shared: link && new SharedTier<User>(readStoreSettings(link, surroundings), readUser, reports),
    misconfiguration: new MisconfigurationDetector(() => undefined),
    notifier: new RevocationNotifier(() => undefined),
  });
  verifier.revoker.subscribe();
  return {
    host,
    verifier,
    service: new SessionAuthService(
      client as unknown as SessionClient<UserRecord>,
      verifier as unknown as SessionVerifier<UserRecord>,
      deadlines,
      {
        signInTimeoutMs: set.signOutTimeoutMs,
        signOutTimeoutMs: set.signOutTimeoutMs,
        maxSignIns: MAX_SIGN_INS,
        maxTokenLength: 4_096,
      },
    ),
    link,
    close: async () => {
      await deadlines.close();
      await verifier.close();
    },
  };
}

const seal = new SessionSeal(SECRET, BASE_URL);

/** Returns the text of a message between instances. */
export function textOfMessage(bytes: Uint8Array): string {
  return seal.openMessage(bytes) ?? 'unreadable';
}

/** Returns the text of a value that instances stored for a session. */
export function textOfValue(session: SessionIdentity, bytes: Uint8Array): string | undefined {
  return seal.openValue(sessionKeysOf(session), bytes);
}

/** Returns the store keys of the revocation of a session, of a user, and of all. */
export const RECORDS = {
  ofToken: (token: string): string => seal.nameOfRevoked(tokenKeyOf(token)),
  ofUser: (username: string): string => seal.nameOfUser(username),
  ofAll: seal.nameOfAll,
};

/** Returns the store key of a session. */
export function keyInStore(token: string): string {
  return seal.nameOf(tokenKeyOf(token));
}

function readUser(json: object): User | undefined {
  const { username, auth_token, answer } = json as Partial<User>;
  if (typeof username !== 'string' || typeof auth_token !== 'string' || typeof answer !== 'number') return undefined;
  return Object.freeze({ username, auth_token, answer });
}
