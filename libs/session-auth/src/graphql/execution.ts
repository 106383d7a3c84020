import { isSameSession } from '../contract/session-identity.js';
import { ADMISSION, type GuardedRequest } from '../guard/guarded-request.js';
import type { CallRequest } from '../guard/transport.js';

/** The place of a field in a response. `prev` is that of the field or of the list above it. */
interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
}

interface Name {
  readonly value: string;
}

/** A field, an inline fragment or a named one. */
interface Selection {
  readonly kind: string;
  readonly name?: Name;
  readonly alias?: Name;
  readonly arguments?: readonly { readonly name: Name; readonly value: { readonly name?: Name } }[];
  readonly selectionSet?: SelectionSet;
}

interface SelectionSet {
  readonly selections: readonly Selection[];
}

export interface FieldInfo {
  readonly fieldName?: string;
  readonly path?: Path | undefined;
  /** One object for each execution. */
  readonly variableValues: Readonly<Record<string, unknown>>;
  readonly operation?: { readonly operation?: string; readonly selectionSet: SelectionSet };
  readonly fragments?: Readonly<Record<string, Selection>>;
}

/** The field of a federated subgraph whose references share its info object. */
export const ENTITIES = '_entities';
const REPRESENTATIONS = 'representations';

class Place {
  request: GuardedRequest | undefined;
  #below: Map<string | number, Place> | undefined;

  find(key: string | number): Place | undefined {
    return this.#below?.get(key);
  }

  open(key: string | number): Place {
    this.#below ??= new Map();
    const found = this.#below.get(key) ?? new Place();
    this.#below.set(key, found);
    return found;
  }
}

/** Carries no user: it stands for calls that can't be distinguished. */
const AMBIGUOUS: GuardedRequest = Object.freeze({});

/**
 * An operation while it is executed: its request, and the admissions of its fields, which run concurrently
 * and may have different users.
 */
export class Execution {
  readonly request: CallRequest;
  readonly #admitted = new Map<object, GuardedRequest>();
  readonly #root = new Place();
  /** By names in the response. Searched once: a client may ask for many references, in a long operation. */
  readonly #representations = new Map<string, readonly unknown[]>();
  #unplaced: FieldInfo[] = [];

  constructor(request: CallRequest) {
    this.request = request;
  }

  /**
   * Stores the request of an admitted call.
   * @param key the info object of a field; the object to resolve, if the info object belongs to several calls
   */
  admit(key: object, request: GuardedRequest, info: FieldInfo | undefined): void {
    const before = this.#admitted.get(key);
    this.#admitted.set(key, before && !haveOneAdmission(before, request) ? AMBIGUOUS : request);
    if (key === info) this.#unplaced.push(info);
  }

  /** Returns the request of a call, with its own user; `undefined` if no guard has admitted the call itself. */
  of(key: object): GuardedRequest | undefined {
    return this.#admitted.get(key);
  }

  above(info: FieldInfo): GuardedRequest | undefined {
    this.#placeAdmitted();
    const keys = keysOf(info.path?.prev);
    let nearest: GuardedRequest | undefined;
    let place: Place | undefined = this.#root;
    for (const [index, key] of keys.entries()) {
      place = place?.find(key);
      const reference = index === 1 ? this.#referenceAt(info, String(keys[0]), key) : undefined;
      nearest = reference ?? place?.request ?? nearest;
    }
    return nearest;
  }

  #referenceAt(info: FieldInfo, responseName: string, index: string | number): GuardedRequest | undefined {
    if (typeof index !== 'number') return undefined;
    const found = this.#representations.get(responseName) ?? representationsIn(info, responseName);
    this.#representations.set(responseName, found);
    return this.#admitted.get(found[index] as object);
  }

  /** Only when a field asks for the fields above it: most operations have none that does. */
  #placeAdmitted(): void {
    for (const info of this.#unplaced) {
      let place = this.#root;
      for (const key of keysOf(info.path)) place = place.open(key);
      place.request = this.#admitted.get(info);
    }
    this.#unplaced = [];
  }
}

/** From the root. Not by identity: compiled operations build another path for each field. */
function keysOf(path: Path | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let current = path; current; current = current.prev) keys.push(current.key);
  return keys.reverse();
}

/**
 * Returns the objects whose references a root field resolves: none unless it is `_entities`, and a variable
 * has them.
 */
function representationsIn(
  { operation, fragments = {}, variableValues }: FieldInfo,
  responseName: string,
): readonly unknown[] {
  const field = operation && fieldAt(operation.selectionSet, fragments, responseName, new Set());
  if (field?.name?.value !== ENTITIES) return [];
  const variable = field.arguments?.find((argument) => argument.name.value === REPRESENTATIONS)?.value.name
    ?.value;
  const list = variable === undefined ? undefined : variableValues[variable];
  return Array.isArray(list) ? list : [];
}

/** @param visited names of fragments: each is searched once, however often a client repeats it */
function fieldAt(
  { selections }: SelectionSet,
  fragments: Readonly<Record<string, Selection>>,
  responseName: string,
  visited: Set<string>,
): Selection | undefined {
  for (const selection of selections) {
    const { kind, name, alias } = selection;
    if (kind === 'Field' && (alias ?? name)?.value === responseName) return selection;
    if (kind === 'Field' || (name && visited.has(name.value))) continue;
    if (name) visited.add(name.value);
    const { selectionSet } = (name ? fragments[name.value] : selection) ?? {};
    const found = selectionSet && fieldAt(selectionSet, fragments, responseName, visited);
    if (found) return found;
  }
  return undefined;
}

/**
 * Returns whether two requests have the admission of one call, or admissions of one authority with the
 * same session or both without one.
 */
export function haveOneAdmission(
  { [ADMISSION]: one }: GuardedRequest,
  { [ADMISSION]: other }: GuardedRequest,
): boolean {
  if (one?.context === other?.context) return true;
  if (one?.verifier !== other?.verifier || !one?.user !== !other?.user) return false;
  // A user without a session is one that a subclass of the guard has admitted by another way.
  if (!one?.session && one?.user !== other?.user) return false;
  return isSameSession(one?.session, other?.session);
}

/** Returns what the last guard has attached, for a call that shares its request with calls of other users. */
export function attachedTo({ user, [ADMISSION]: admission }: GuardedRequest): GuardedRequest {
  return { user, ...(admission && { [ADMISSION]: admission }) };
}
