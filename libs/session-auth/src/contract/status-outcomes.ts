import type { UnavailableReason } from './outcome.js';

/** Outcome of a documented refusal of user_details. */
export type StatusMeaning = 'unauthenticated' | 'forbidden' | 'unavailable';

/** The refusals that the interface lists (section 7), without the causes. */
export type RefusalStatus = 400 | 401 | 403 | 404;

/** Outcome of each documented refusal that differs from the default. */
export interface StatusMap extends Readonly<Partial<Record<RefusalStatus, StatusMeaning>>> {
  /**
   * What a status of a sign-in means to the user: `'rejected'` that the credentials are wrong (401),
   * `'invalid'` that they can't be read (400), `'denied'` (403) or `'limited'` (429).
   */
  readonly signIn?: Readonly<Partial<Record<SignInStatus, SignInMeaning>>>;
}

type SignInStatus = keyof typeof SIGN_IN_OUTCOMES;
export type SignInMeaning = 'rejected' | 'invalid' | 'denied' | 'limited';

/**
 * The outcome of each refusal of user_details (our decision: section 7 names no causes). A 403 refuses the
 * application, so that its users are not asked to sign in again. A 404 with a body is no answer of the session
 * service: `unavailable`.
 */
export const REFUSAL_OUTCOMES = {
  400: 'unauthenticated',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'unauthenticated',
} as const satisfies Readonly<Record<RefusalStatus, StatusMeaning>>;

/** Outcome of a sign-in or a sign-out by its status. Any other status is unavailable. */
export type CallOutcome = 'done' | 'accepted' | 'invalid' | 'rejected' | 'denied' | 'limited';

const REFUSALS = { 400: 'invalid', 403: 'denied', 422: 'invalid', 423: 'denied' } as const;
/** The outcome of each refusal of a sign-in. */
export const SIGN_IN_OUTCOMES = {
  ...REFUSALS,
  401: 'rejected',
  404: 'rejected',
  409: 'denied',
  429: 'limited',
} as const satisfies Readonly<Record<number, SignInMeaning>>;
const OUTCOMES: Readonly<Record<'sign_in' | 'sign_out', Readonly<Record<number, CallOutcome>>>> = {
  sign_in: { ...SIGN_IN_OUTCOMES, 200: 'done', 201: 'done', 202: 'accepted' },
  // A session that has already ended needs no sign-out.
  sign_out: { ...REFUSALS, 401: 'done', 404: 'done' },
};

/**
 * Returns the outcome of a sign-in or a sign-out with this status. Statuses that the interface does not list
 * have the meaning that they have elsewhere: any 2xx ends a session, a 422 is a 400, a 423 (a locked account)
 * a 403, and so is a 409 of a sign-in.
 */
export function callOutcomeOf(operation: 'sign_in' | 'sign_out', status: number): CallOutcome | undefined {
  const isDone = operation === 'sign_out' && status >= 200 && status < 300;
  return isDone ? 'done' : OUTCOMES[operation][status];
}

/** Whether a status of a sign-in or a sign-out is a success, or a refusal that the interface lists. */
export function isExpected(status: number): boolean {
  return status < 300 || isRefusal(status);
}

export function isRefusal(status: number): status is RefusalStatus {
  return Object.hasOwn(REFUSAL_OUTCOMES, status);
}

/** Returns the reason why a reply with this status is not a usable answer. */
export function unavailableReasonOf(status: number): UnavailableReason {
  if (status === 429) return 'rate_limited';
  return status === 408 || status >= 500 ? 'server_error' : 'unexpected_status';
}
