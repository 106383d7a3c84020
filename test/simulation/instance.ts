import { Deadlines } from '../../libs/session-auth/src/client/deadline.js';
import type { SessionClient } from '../../libs/session-auth/src/client/session-client.js';
import type { UserRecord } from '../../libs/session-auth/src/contract/record/user-record.js';
import { SessionAuthService } from '../../libs/session-auth/src/module/service/session-auth.service.js';
import { readStoreSettings } from '../../libs/session-auth/src/module/store-wiring.js';
import { KnownSessions } from '../../libs/session-auth/src/verifier/known-sessions.js';
import type { LaneSettings } from '../../libs/session-auth/src/verifier/lanes.js';
import { Lanes } from '../../libs/session-auth/src/verifier/lanes.js';
import { type CacheSettings, SessionCache } from '../../libs/session-auth/src/verifier/session-cache.js';
import { tokenKeyOf, type TokenKey } from '../../libs/session-auth/src/contract/session-identity.js';
import { SessionVerifier } from '../../libs/session-auth/src/verifier/session-verifier.js';
import { SessionSeal } from '../../libs/session-auth/src/fleet/session-seal.js';
import type { SharedTierReports } from '../../libs/session-auth/src/verifier/shared-tier.js';
import { Fleet } from '../../libs/session-auth/src/fleet/fleet.js';
import type { SimulatedService, User } from './service.js';
import type { StoreLink } from './store-link.js';
import type { Host } from './host.js';

export interface InstanceSettings {
  /** Cache of an instance, unless its plan has another. */
  readonly memory: CacheSettings;
  readonly protection: LaneSettings;
  /** Timeout of a sign-in, and of a sign-out, in milliseconds. */
  readonly signOutTimeoutMs: number;
}

const BASE_URL = 'https://sessions.example.com/api';
/**
 * Secrets of `cache.store`: the current one, the one before it, and one that only a wrongly configured
 * instance has.
 */
export const SECRETS = {
  current: 'a-secret-of-the-simulation',
  former: 'a-former-secret-of-it',
  foreign: 'a-secret-of-no-other',
} as const;
const API_KEY = 'a-key-of-the-simulation';
const MAX_SIGN_INS = 100;

/** An instance of the library as the module builds it, with a simulated service and store. */
export interface Instance {
  readonly host: Host;
  /** Names of what the shared tier has reported. */
  readonly reports: readonly string[];
  readonly verifier: SessionVerifier<User>;
  /** The operations of an application. */
  readonly service: Pick<SessionAuthService, 'signIn' | 'signOut' | 'forget' | 'forgetUser' | 'forgetAll'>;
  readonly link: StoreLink | undefined;
  close(): Promise<void>;
}

/** An event of the library: a session ended, or every session of a user, or every session. */
export type LibraryEvent = { readonly ended: TokenKey } | { readonly endedUsers: string | undefined };

interface InstanceParts {
  readonly service: SimulatedService;
  readonly link: StoreLink | undefined;
  readonly settings: InstanceSettings;
  readonly onEvent: (event: LibraryEvent) => void;
}

/** Builds an instance: all code between its HTTP client and its guard is that of the library. */
export function startInstance(host: Host, { service, link, settings, onEvent }: InstanceParts): Instance {
  const set = { ...settings, memory: host.memory };
  const deadlines = new Deadlines(set.protection.timeoutMs);
  const client = service.clientOf(host);
  const check = new Lanes<User>(
    (session, deadline) => client.userDetails(session, deadline),
    deadlines,
    set.protection,
    {
      known: new KnownSessions(),
      breakerChanged: () => undefined,
    },
  );
  const surroundings = {
    cache: set.memory,
    baseUrl: BASE_URL,
    apiKey: API_KEY,
    timeoutMs: set.protection.timeoutMs,
  };
  const names: string[] = [];
  const reports = new Proxy({} as SharedTierReports, {
    get: (_, name) => () => void names.push(String(name)),
  });
  const verifier = new SessionVerifier<User>(check, {
    cache: new SessionCache<User>(set.memory),
    shared: link && new Fleet<User>(readStoreSettings(link, surroundings), service.readUser, reports),
    onRevoked: (ended) => onEvent({ ended }),
    onUsersRevoked: (endedUsers) => onEvent({ endedUsers }),
  });
  verifier.revoker.subscribe();
  return {
    host,
    reports: names,
    verifier,
    service: new SessionAuthService(
      client as unknown as SessionClient<UserRecord>,
      verifier as unknown as SessionVerifier<UserRecord>,
      deadlines,
      {
        signInTimeoutMs: set.signOutTimeoutMs,
        signOutTimeoutMs: set.signOutTimeoutMs,
        maxSignIns: MAX_SIGN_INS,
        http: { maxTokenLength: 4_096 },
      },
    ),
    link,
    close: async () => {
      await deadlines.close();
      await verifier.close();
    },
  };
}

const seal = new SessionSeal(SECRETS.current, BASE_URL);
const seals = Object.values(SECRETS).map((secret) => ({ secret, seal: new SessionSeal(secret, BASE_URL) }));

/** Returns the text of a message between instances, and the secret that opens it. */
export function openMessage(bytes: Uint8Array): {
  readonly text: string;
  readonly secret: string | undefined;
} {
  for (const { secret, seal: one } of seals) {
    const text = one.openMessage(bytes);
    if (text !== undefined) return { text, secret };
  }
  return { text: 'unreadable', secret: undefined };
}

/** Returns the store keys of the revocation of a session, of a user, and of all. */
export const RECORDS = {
  ofToken: (token: string): string => seal.nameOfRevoked(tokenKeyOf(token)),
  ofUser: (username: string): string => seal.nameOfUser(username),
  ofAll: seal.nameOfAll,
};

/** Returns whether a store key is that of a session, with any secret of the fleet. */
export function isKeyOf(token: string, key: string): boolean {
  return seals.some(({ seal: one }) => one.nameOf(tokenKeyOf(token)) === key);
}
