import { isSameSession } from '../contract/session-identity.js';
import { ADMISSION, type GuardedRequest } from '../guard/guarded-request.js';
import type { CallRequest } from '../guard/transport.js';

/** The place of a field in a response. `prev` is that of the field or of the list above it. */
interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
}

export interface FieldInfo {
  readonly fieldName?: string;
  readonly path?: Path | undefined;
  /** One object for each execution. */
  readonly variableValues: Readonly<Record<string, unknown>>;
  readonly operation?: { readonly operation?: string };
}

/** The field of a federated subgraph whose references share its info object. */
export const ENTITIES = '_entities';

/** A path of the response, with the request that is admitted there. */
interface Place {
  request?: GuardedRequest | undefined;
  readonly below: Map<string | number, Place>;
}

/** Carries no user: it stands for calls that can't be distinguished. */
const WITHOUT_USER: GuardedRequest = Object.freeze({});

/**
 * An operation while it is executed: its request, and the admissions of its fields, which run concurrently
 * and may have different users.
 */
export class Execution {
  readonly request: CallRequest;
  readonly #admitted = new Map<object, GuardedRequest>();
  /** Filled when a field asks: most operations have none that does. */
  readonly #root: Place = { below: new Map() };
  #unplaced: { readonly key: object; readonly info: FieldInfo }[] = [];
  #representations: ReadonlyMap<unknown, number> | undefined;

  constructor(request: CallRequest) {
    this.request = request;
  }

  /**
   * Stores the request of an admitted call.
   * @param key the info object of a field; the object to resolve, if the info object belongs to several calls
   */
  admit(key: object, request: GuardedRequest, info: FieldInfo | undefined): void {
    const before = this.#admitted.get(key);
    this.#admitted.set(key, before && !haveSameCaller(before, request) ? WITHOUT_USER : request);
    if (info && (key === info || info.fieldName === ENTITIES)) this.#unplaced.push({ key, info });
  }

  /** Returns the request of a call, with its own user; `undefined` if no guard has admitted the call itself. */
  of(key: object): GuardedRequest | undefined {
    return this.#admitted.get(key);
  }

  /** Returns the request of the nearest admitted field or reference above a field. */
  above(info: FieldInfo): GuardedRequest | undefined {
    for (const { key, info: placed } of this.#unplaced) this.#place(key, placed);
    this.#unplaced = [];
    let nearest: GuardedRequest | undefined;
    let place: Place | undefined = this.#root;
    for (const key of keysOf(info.path?.prev)) {
      place = place?.below.get(key);
      nearest = place?.request ?? nearest;
    }
    return nearest;
  }

  /** A reference is below its field, at the index that its object has in a variable. */
  #place(key: object, info: FieldInfo): void {
    const keys = keysOf(info.path);
    if (key !== info) {
      const index = this.#indexOf(key, info);
      if (index === undefined) return;
      keys.push(index);
    }
    let place = this.#root;
    for (const each of keys) {
      const next = place.below.get(each) ?? { below: new Map<string | number, Place>() };
      place.below.set(each, next);
      place = next;
    }
    place.request = this.#admitted.get(key);
  }

  /** Searched once: a client may ask for many references. */
  #indexOf(reference: object, { variableValues }: FieldInfo): number | undefined {
    this.#representations ??= new Map(
      Object.values(variableValues).flatMap((list) =>
        Array.isArray(list) ? list.map((each: unknown, index) => [each, index] as const) : [],
      ),
    );
    return this.#representations.get(reference);
  }
}

/** From the root. Not by identity: compiled operations build another path for each field. */
function keysOf(path: Path | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let current = path; current; current = current.prev) keys.push(current.key);
  return keys.reverse();
}

/** Returns whether two requests have the admission of one call, or of one caller by one registration. */
function haveSameCaller(
  { [ADMISSION]: one }: GuardedRequest,
  { [ADMISSION]: other }: GuardedRequest,
): boolean {
  if (!one || !other) return false;
  if (one.context === other.context) return true;
  if (one.verifier !== other.verifier) return false;
  // A user without a session is one that a subclass of the guard has admitted by another way.
  return one.session ? isSameSession(one.session, other.session) : one.user === other.user;
}

/** Returns what the last guard has attached, for a call that shares its request with calls of other users. */
export function attachedTo({ user, [ADMISSION]: admission }: GuardedRequest): GuardedRequest {
  return { user, ...(admission && { [ADMISSION]: admission }) };
}
