import type { Bug } from './bugs.js';
import type { Search } from './search.js';
import type { Budget, Revocation } from './state.js';

const SIGN_OUT = { kind: 'signOut', host: 0, target: 0 } as const;
const FORGET = { kind: 'forget', host: 0, target: 0 } as const;
const FORGET_USER = { kind: 'forgetUser', host: 0, target: 0 } as const;

interface Outline extends Partial<Budget> {
  readonly name: string;
  readonly revocations?: readonly { readonly kind: Revocation['kind']; readonly host: number; readonly target: number }[];
  /** Two unless set. */
  readonly tokens?: number;
  readonly stale?: number;
  readonly requests?: boolean;
  /** Instances at which users sign in; all unless set. */
  readonly signInsAt?: readonly number[];
}

/** Two instances, and tokens of one user. The instances are alike, and so are the tokens: that instance 0 revokes token 0 loses nothing. */
function outlined({
  name,
  revocations = [],
  tokens = 2,
  stale = 0,
  requests = false,
  flights = 2,
  faults = 2,
  signIns = 0,
  ticks = 0,
  signInsAt = [0, 1],
}: Outline): Search {
  const users = Array.from({ length: tokens }, () => 0);
  return {
    name,
    settings: { hosts: 2, users, ttl: 2, stale, timeout: 1, requests, slack: 0 },
    scope: { users, revocations, stale: stale > 0, requests, signInsAt, bug: undefined },
    budget: { flights, faults, signIns, ticks },
  };
}

/** The scopes that `npm run test:model` visits completely. */
export const SCOPES: readonly Search[] = [
  outlined({ name: 'sign-out, one flight', revocations: [SIGN_OUT], flights: 1 }),
  outlined({ name: 'forgetUser, one flight', revocations: [FORGET_USER], flights: 1 }),
  outlined({ name: 'sign-out', revocations: [SIGN_OUT] }),
  outlined({ name: 'forget', revocations: [FORGET], faults: 1 }),
  outlined({ name: 'forgetUser', revocations: [FORGET_USER] }),
  outlined({ name: 'forgetUser, and time', revocations: [FORGET_USER], ticks: 1, faults: 1 }),
  outlined({ name: 'sign-in and sign-out', revocations: [SIGN_OUT], signIns: 1, faults: 1 }),
  outlined({ name: 'lifetimes', ticks: 3 }),
  outlined({ name: 'stale entries', revocations: [FORGET_USER], stale: 1, ticks: 1, faults: 1 }),
  outlined({ name: 'guards of one request', revocations: [SIGN_OUT], requests: true, faults: 1 }),
];

/** The scopes that the suite visits completely: small enough for a few seconds. */
export const SHORT_SCOPES: readonly Search[] = [
  outlined({ name: 'sign-out', revocations: [SIGN_OUT], faults: 0 }),
  outlined({ name: 'forgetUser', revocations: [FORGET_USER], faults: 0 }),
  outlined({ name: 'sign-out and faults', revocations: [SIGN_OUT], tokens: 1, flights: 1, faults: 1 }),
  outlined({ name: 'lifetimes', ticks: 3, faults: 0 }),
];

/** A scope in which each deliberate bug breaks a promise. */
export const BUG_SCOPES: Readonly<Record<Bug, Search>> = {
  'late-detach': outlined({ name: 'sign-out', revocations: [SIGN_OUT], faults: 0 }),
  'late-clear': outlined({ name: 'sign-in and sign-out', revocations: [SIGN_OUT], tokens: 1, signIns: 1, signInsAt: [0], faults: 0 }),
  'lifetime-from-reply': outlined({ name: 'lifetimes', ticks: 3, faults: 0 }),
  'host-clock': outlined({ name: 'forgetUser', revocations: [FORGET_USER], faults: 0 }),
  'joined-after-forget': outlined({ name: 'forgetUser', revocations: [FORGET_USER], faults: 0 }),
  resubscription: outlined({ name: 'sign-out, and an interruption', revocations: [SIGN_OUT], flights: 1, faults: 1 }),
  'refused-write': outlined({ name: 'sign-out', revocations: [SIGN_OUT], faults: 0 }),
  'no-retry': outlined({ name: 'sign-out, and a failure of the store', revocations: [SIGN_OUT], flights: 1, faults: 1 }),
  'stale-revoked': outlined({ name: 'stale entries', revocations: [FORGET_USER], tokens: 1, stale: 1, faults: 1 }),
  'evicted-flight': outlined({ name: 'forget', revocations: [FORGET], faults: 0 }),
  'wall-clock-age': outlined({ name: 'lifetimes', ticks: 3, faults: 0 }),
  'kept-request': outlined({ name: 'guards of one request', revocations: [SIGN_OUT], flights: 1, faults: 0, requests: true }),
};

/** A scope with one rule dropped. */
export function withBug(bug: Bug): Search {
  const scope = BUG_SCOPES[bug];
  return { ...scope, scope: { ...scope.scope, bug } };
}
