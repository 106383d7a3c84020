import type { Span } from './clock.js';
import type { EndKind, LinkEvent } from './instance.process.js';
import type { Confirmation, ServiceRecord, ValidityChange } from './session-service.process.js';

/** One request, as recorded by its sender. Times are those of the machine's monotonic clock. */
export interface Request {
  /** Taken before it is sent. */
  readonly sentAtMs: number;
  /** Taken after its answer has arrived. */
  readonly answeredAtMs: number;
  readonly instance: number;
  readonly token: string;
  /** HTTP status; 0 for a connection that broke, -1 for no answer. */
  readonly status: number;
  /** User name that the handler received. */
  readonly user?: string | undefined;
}

/** One reply that stayed open, as recorded by its reader. */
export interface OpenStream {
  readonly openedAtMs: number;
  /** When the instance had written the last part that arrived. */
  readonly lastPartAtMs: number;
  readonly overAtMs: number;
  readonly instance: number;
  readonly token: string;
  readonly user: string;
  /** Status of its last event; 0 if its reader has left, -1 if it ended without one. */
  readonly endedWith: number;
}

/** One call that revokes or evicts sessions, as recorded by the called instance. */
export interface End {
  readonly kind: EndKind;
  readonly instance: number;
  /** The session, for a call that ends one. */
  readonly token?: string | undefined;
  /** The user, for `forgetUser`. */
  readonly user?: string | undefined;
  readonly calledAtMs: number;
  readonly settledAtMs: number;
  readonly outcome: string;
}

/** One fault of some instances' connection to Redis, of Redis, or of an instance. */
export interface Fault extends Span {
  readonly name: string;
  readonly instances: readonly number[];
  /** Which connections break, so that they must be re-established. */
  readonly breaks: 'none' | 'subscription' | 'all';
  /** Whether the instances themselves are frozen. */
  readonly freezes: boolean;
}

/** All records, taken outside the library. */
export class Journal {
  readonly requests: Request[] = [];
  readonly streams: OpenStream[] = [];
  /** Of the instance without a store. */
  readonly comparison: Request[] = [];
  readonly ends: End[] = [];
  readonly faults: Fault[] = [];
  readonly stalls = new Map<string, Span[]>();
  readonly links: LinkEvent[][];
  /** Records by token, in chronological order. */
  readonly changes = new Map<string, ValidityChange[]>();
  readonly confirmations = new Map<string, Confirmation[]>();
  serviceCalls = 0;

  constructor(instances: number) {
    this.links = Array.from({ length: instances }, () => []);
  }

  addStalls(process: string, stalls: readonly Span[]): void {
    this.stalls.set(process, [...(this.stalls.get(process) ?? []), ...stalls]);
  }

  addServiceRecord({ changes, confirmations, calls, stalls }: ServiceRecord): void {
    for (const change of changes) listOf(this.changes, change.token).push(change);
    for (const confirmation of confirmations)
      listOf(this.confirmations, confirmation.token).push(confirmation);
    this.serviceCalls += calls;
    this.addStalls('service', stalls);
  }
}

function listOf<Item>(lists: Map<string, Item[]>, key: string): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
