import type { CauseReports } from '../contract/causes.js';
import type { Observable } from 'rxjs';
import type { UserRecord } from '../contract/record/user-record.js';
import type { TokenKey } from '../contract/session-identity.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';
import type { GuardDenial } from './denial.js';
import { ADMISSION, type Admission, type GuardedRequest } from './guarded-request.js';

export interface SessionEnds {
  readonly ended: Observable<string>;
  /** Emits the fingerprint of each evicted session: the next check is by the session service. */
  readonly evicted: Observable<string>;
  /** Emits the name of each revoked user; `undefined` for every user. */
  readonly forgottenUsers: Observable<string | undefined>;
  /** Returns the fingerprint of a session, as `ended` emits it. */
  fingerprintOf(tokenKey: TokenKey): string;
}

/** How long something stays open that a guard has admitted. */
export interface WhileOpen {
  /** Milliseconds between two checks of its session. Each runs up to a tenth earlier. */
  readonly recheckMs: number;
  /** Milliseconds that it stays open while the session service is unavailable. */
  readonly outageGraceMs: number;
}

/** The objects of an authority by which something ends with its session. */
export interface WatchParts {
  readonly verifier: SessionVerifier<UserRecord>;
  readonly ends: SessionEnds;
  readonly whileOpen: WhileOpen;
  /** Reports causes of denials that are not the caller's own. */
  readonly causes: CauseReports;
  /** Called when the first part of a reply is written: the reply ends with its session. */
  readonly replyOpened: (response: NodeResponse, reply: ReplyOfCall) => void;
}

/** A call of which something may stay open. */
export interface OpenCall {
  readonly request: GuardedRequest;
  readonly reply?: unknown;
  readonly transport: {
    /** Returns the last events of a stream of events that ends with its session. @default session-ended */
    lastEvents?(denial: GuardDenial): string;
  };
}

const CALL = Symbol('call');

/** The used part of a response of Node.js, over HTTP/1 and HTTP/2. */
export interface NodeResponse {
  readonly writableEnded: boolean;
  write: (this: NodeResponse, ...parameters: unknown[]) => boolean;
  flushHeaders: (this: NodeResponse) => void;
  cork?(): void;
  uncork?(): void;
  [CALL]?: ReplyOfCall;
}

/** A call whose reply may stay open, with the session that was admitted. */
export interface ReplyOfCall {
  readonly call: OpenCall;
  readonly admission: Admission & { readonly session: object };
  readonly parts: WatchParts;
  /** Another authority that has admitted the same request. */
  readonly next: ReplyOfCall | undefined;
  /** Those of the response before it was watched. */
  readonly write: NodeResponse['write'];
  readonly flushHeaders: NodeResponse['flushHeaders'];
  /** Whether a part of the reply was written. */
  isOpen: boolean;
}

/**
 * Ends the reply of an admitted call with its session, if the reply is written in parts: everything else has
 * ended when its headers are sent. So a reply costs two functions in place of those that write its first
 * part, which are the same for all replies, and a stream costs nothing after its first part.
 */
export function watchReply(call: OpenCall, parts: WatchParts): undefined {
  const admission = call.request[ADMISSION] as ReplyOfCall['admission'] | undefined;
  // That of Node.js: the reply itself, or `raw` of Fastify's reply.
  const response = ((call.reply as { readonly raw?: object } | undefined)?.raw ?? call.reply) as
    NodeResponse | undefined;
  // A reply that a test has built may have no part that is written.
  if (!admission?.session || typeof response?.flushHeaders !== 'function') return undefined;
  const next = response[CALL];
  for (let other = next; other; other = other.next) if (other.parts === parts) return undefined;
  const { write, flushHeaders } = next ?? response;
  const added: ReplyOfCall = { call, admission, parts, next, write, flushHeaders, isOpen: false };
  response[CALL] = added;
  if (next?.isOpen) open(response, added);
  if (next) return undefined;
  response.write = writeFirst;
  response.flushHeaders = flushFirst;
  return undefined;
}

/** A wrapper that an application has set since calls it for each part. */
function writeFirst(this: NodeResponse, ...parameters: unknown[]): boolean {
  const isWrapped = this.write !== writeFirst;
  const { write } = opened(this);
  if (isWrapped && this.writableEnded) return false;
  return (isWrapped ? write : this.write).apply(this, parameters);
}

function flushFirst(this: NodeResponse): void {
  const isWrapped = this.flushHeaders !== flushFirst;
  const { flushHeaders } = opened(this);
  if (!this.writableEnded) (isWrapped ? flushHeaders : this.flushHeaders).call(this);
}

function opened(response: NodeResponse): Pick<NodeResponse, 'write' | 'flushHeaders'> {
  const first = response[CALL];
  if (!first) return response;
  const { write, flushHeaders } = first;
  if (response.write === writeFirst) response.write = write;
  if (response.flushHeaders === flushFirst) response.flushHeaders = flushHeaders;
  for (let each: ReplyOfCall | undefined = first; each; each = each.next) open(response, each);
  return first;
}

function open(response: NodeResponse, reply: ReplyOfCall): void {
  if (reply.isOpen) return;
  reply.isOpen = true;
  reply.parts.replyOpened(response, reply);
}
