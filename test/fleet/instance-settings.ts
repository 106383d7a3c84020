import type { SessionAuthCacheOptions, SessionAuthOptions } from 'nestjs-session-auth';
import type { RedisSessionStoreOptions } from 'nestjs-session-auth/redis';

export interface InstanceSettings {
  readonly platform?: 'Express' | 'Fastify';
  readonly baseUrl: string;
  /** Milliseconds by which the wall clock of its host is ahead. */
  readonly clockOffsetMs?: number;
  /** Has a record class that writes user names in lower case. */
  readonly lowerCaseNames?: boolean;
  /** Runs in a separate process, which ends with it. @default false */
  readonly ownProcess?: boolean;
  readonly redis: { readonly port: number };
  readonly store?: Omit<RedisSessionStoreOptions, 'redis'>;
  readonly options?: Partial<Pick<SessionAuthOptions, 'timeoutMs' | 'breaker' | 'retry'>> & {
    readonly apiKey?: string;
    readonly cache?: Partial<Omit<SessionAuthCacheOptions, 'store'>>;
  };
}

/** How a process differs from the others. */
export interface HostSettings {
  /** Milliseconds by which its wall clock is ahead. @default 0 */
  readonly clockOffsetMs?: number;
  /** For one instance alone: the process ends by itself when the instance is closed. @default false */
  readonly forOne?: boolean;
}
