import type { SeededRandom } from '../support/seeded-random.js';
import type { ServiceHealth } from './service.js';

export type Step = { readonly atMs: number } & (
  | {
      readonly do: 'check';
      readonly host: number;
      readonly session: number;
      readonly hasWrongIv: boolean;
      readonly maxAgeMs: number;
      /** The next guard of the same request. */
      readonly again?: { readonly afterMs: number; readonly maxAgeMs: number };
    }
  | {
      readonly do: 'signOut' | 'forget' | 'forgetUser';
      readonly host: number;
      readonly session: number;
      /** Whether to name the user as its record does, and not as the service does. */
      readonly byRecord?: boolean;
    }
  | { readonly do: 'signIn'; readonly host: number; readonly session: number }
  | { readonly do: 'forgetAll'; readonly host: number }
  | { readonly do: 'crash'; readonly host: number }
  | {
      readonly do: 'close';
      readonly host: number;
      /** Milliseconds until the next process starts in its place, if one does. */
      readonly restartsMs: number | undefined;
    }
  | { readonly do: 'revoke' | 'block' | 'unblock'; readonly session: number }
  | { readonly do: 'serviceIs'; readonly health: ServiceHealth; readonly forMs: number }
  | {
      readonly do: 'storeIs';
      readonly host: number | 'all';
      readonly state: 'hangs' | 'refuses';
      readonly forMs: number;
      readonly interrupts: boolean;
    }
  | { readonly do: 'storeFull'; readonly forMs: number }
  | { readonly do: 'blockLoop' | 'suspend'; readonly host: number; readonly forMs: number }
  | { readonly do: 'interrupt'; readonly host: number; readonly noticedMs: number; readonly downMs: number }
  | { readonly do: 'wallJump'; readonly host: number; readonly byMs: number }
  | {
      readonly do: 'storeJump';
      readonly byMs: number;
      /** Whether the clocks of all instances step too. */
      readonly takesHosts: boolean;
    }
  | { readonly do: 'lose' | 'forge' | 'replay' }
);

/** Conditions that steps are planned for. */
export interface Scope {
  readonly kind: 'calm' | 'ordinary' | 'rough' | 'lying';
  readonly random: SeededRandom;
  readonly hosts: number;
  readonly sessions: number;
  readonly spanMs: number;
  readonly service: ServiceHealth;
  readonly timeoutMs: number;
  readonly ttlMs: number;
}
