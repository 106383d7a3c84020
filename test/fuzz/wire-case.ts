/** The action of the service after its last byte: waits for the next request, closes, or resets. */
export type Ending = 'keep' | 'end' | 'reset';

/** One answer to user_details, as it goes over the wire. */
export interface WireCase {
  /** One character a byte. */
  readonly bytes: string;
  readonly ending: Ending;
  /** Where the bytes are cut into writes; each is a position modulo the length. */
  readonly cuts: readonly number[];
}

/** The outcome for the caller of the library. */
export type Outcome = 'allow' | 'unauthenticated' | 'forbidden' | 'unavailable';

/** Outcomes that are right for an answer, and the user when one of them is `allow`. */
export interface Expected {
  readonly permitted: readonly Outcome[];
  readonly user: Readonly<Record<string, unknown>> | undefined;
  /** Where the answer surely ends, when it does. */
  readonly end: number | undefined;
}

/** Stands in a case for the token that is presented; as long as one. */
export const PRESENTED_TOKEN = 'token-00000000';

/** Bytes that a body may have in this test. */
export const MAX_BODY = 4_096;
