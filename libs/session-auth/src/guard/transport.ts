import type { ArgumentsHost, CanActivate, ExecutionContext } from '@nestjs/common';
import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import type { SessionAuthError } from '../contract/errors.js';
import { type GuardDenial, type RuleAnswer, exceptionOf } from './denial.js';
import { type GuardedRequest, ADMISSION, type Admission } from './guarded-request.js';
import type { Challenge } from './challenge.js';
import { type HoldableResponse, isHeld, keep } from './held-reply.js';
import type { HttpRequest } from './http-request.js';
import type { CauseReports } from '../contract/causes.js';
import type { Observable } from 'rxjs';
import type { UserRecord } from '../contract/record/user-record.js';
import type { TokenKey } from '../contract/session-identity.js';
import type { SessionVerifier } from '../verifier/session-verifier.js';

export type CallRequest = HttpRequest & GuardedRequest;

export interface GuardedCall {
  readonly transport: Transport;
  readonly context: ExecutionContext;
  readonly request: CallRequest;
  readonly reply?: unknown;
  /** Whether the call is admitted in any case. */
  readonly isReported?: true;
}

/** Reads tokens, stores users and denies calls in one kind of Nest context. */
export interface Transport {
  open(context: ExecutionContext): GuardedCall;
  /** Called if the call presents no valid token. Reports a cause that is not the caller's own. */
  unread?(call: GuardedCall, causes: CauseReports): void;
  /** Called when a guard admits the call. Throws if the handler must not run after all. */
  admitted?(call: GuardedCall): void;
  /**
   * Called after that if the call has a session: ends what stays open of the call with it. Returns a denial
   * if it can't.
   */
  watch?(call: GuardedCall, registration: WatchRegistration): GuardDenial | undefined;
  /** Returns the last events of a stream of events that ends with its session. @default session-ended */
  lastEvents?(denial: GuardDenial): string;
  /** Returns the request of a call that a guard has opened. */
  requestOf(context: ExecutionContext): GuardedRequest | undefined;
  /** Returns a request that carries the user of a call without an admission of its own. */
  inherited?(context: ExecutionContext): GuardedRequest | undefined;
  /** Returns those of a route, the arguments of a field, or the payload of a message. */
  parameters(context: ExecutionContext): unknown;
  /**
   * Rejects with the exception of this kind of context. Does not throw, because Nest handles a rejection at
   * half the cost.
   */
  deny(call: GuardedCall, denial: GuardDenial | RuleAnswer, challenge: Challenge): Promise<never>;
  /** Responds to a `SessionAuthError` that nothing else caught, where Nest has no response to it. */
  answer?(host: ArgumentsHost, error: SessionAuthError): unknown;
}

/** Those of the open kinds of context besides HTTP, by Nest's names. Calls of any other kind are denied. */
export const TRANSPORTS = new Map<string, Transport>();

export function transportOf(context: ArgumentsHost): Transport | undefined {
  const kind = context.getType<string>();
  return kind === 'http' ? HTTP : TRANSPORTS.get(kind);
}

export function callParameter(context: ExecutionContext, name: string): unknown {
  const parameters = transportOf(context)?.parameters(context);
  if (typeof parameters !== 'object' || parameters === null || !Object.hasOwn(parameters, name))
    return undefined;
  return (parameters as Readonly<Record<string, unknown>>)[name];
}

/** Controllers, on Express and on Fastify. */
export const HTTP: Transport = {
  /**
   * Reads the arguments of the context, because `switchToHttp()` of Nest costs more than a lookup in the
   * session cache. A context that a test has built may only have `switchToHttp()`.
   */
  open(context) {
    const args: unknown = (context as Partial<ExecutionContext>).getArgs?.();
    if (Array.isArray(args) && args.length > 1)
      return { transport: HTTP, context, request: args[0] as CallRequest, reply: args[1] as unknown };
    const http = context.switchToHttp();
    return { transport: HTTP, context, request: http.getRequest(), reply: http.getResponse() };
  },

  watch: watchReply,

  requestOf: (context) => context.switchToHttp().getRequest(),

  parameters: (context) => context.switchToHttp().getRequest<{ readonly params?: unknown }>().params,

  deny({ reply }, denial, challenge) {
    setHeaders(reply, challenge.headersOf(denial));
    return Promise.reject(exceptionOf(denial));
  },
};

type HeaderValue = number | string | string[] | undefined;

interface ExpressReply {
  setHeader(name: string, value: string): unknown;
  getHeader(name: string): HeaderValue;
  readonly headersSent: boolean;
}

interface FastifyReply {
  header(name: string, value: string): unknown;
  getHeader(name: string): HeaderValue;
  readonly sent: boolean;
}

export function setHeaders(reply: unknown, headers: Iterable<readonly [name: string, value: string]>): void {
  for (const [name, value] of headers) setHeader(reply as ExpressReply | FastifyReply, name, value);
}

/** Whether a guard has set a challenge, which may be that of another registration. */
export function isChallenged(reply: unknown): boolean {
  return (reply as ExpressReply | FastifyReply).getHeader('www-authenticate') !== undefined;
}

/**
 * Prevents shared caches from serving a guarded reply to other users: they respect `Authorization`, but not
 * the headers of this library. Names in lower case save Node.js a conversion in each request.
 */
export function keepFromSharedCaches(reply: unknown, vary: string): void {
  if (reply === undefined) return;
  const target = reply as ExpressReply | FastifyReply;
  const current = target.getHeader('vary');
  setHeader(target, 'cache-control', 'no-store');
  if (vary !== '')
    setHeader(target, 'vary', current === undefined ? vary : mergeVary(String(current), vary.split(', ')));
}

function mergeVary(current: string, names: readonly string[]): string {
  const listed = current.split(/\s*,\s*/);
  const keys = new Set(listed.map((name) => name.toLowerCase()));
  return keys.has('*')
    ? current
    : [...listed, ...names.filter((name) => !keys.has(name.toLowerCase()))].join(', ');
}

function setHeader(reply: ExpressReply | FastifyReply, name: string, value: string): void {
  if ('setHeader' in reply) {
    if (!reply.headersSent) reply.setHeader(name, value);
  } else if (!reply.sent) reply.header(name, value);
}

/** A kind of context besides HTTP, which an application loads if it has handlers of the kind. */
export interface ContextKind {
  readonly transport: Transport;
  /** Called with each class that has handlers of the kind, before Nest builds them. */
  prepareHandlers?(owner: object): void;
  /**
   * Called once, when the guard exists and before Nest builds the handlers, if Nest may call those of the
   * kind without the global guards.
   */
  guardHandlers?(modules: ModulesContainer, config: ApplicationConfig, guard: CanActivate): void;
  /** Called with each module that has the provider of the kind, before Nest initialises it. */
  prepareModule?(module: object, value: object): void;
}

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
  /**
   * Milliseconds between two checks of a session that has something open, however much it is; each runs up to
   * a tenth earlier, and may use a cached answer: a session that ended elsewhere stays open for up to `ttlMs`
   * of the cache more. 1 to 86 400 000. @default 60000
   */
  readonly recheckMs: number;
  /**
   * Milliseconds that it stays open while the session service is unavailable. 0 to 86 400 000.
   * @default 300000
   */
  readonly outageGraceMs: number;
}

/** A registration, as what ends with a session sees it. */
export interface WatchRegistration {
  readonly verifier: SessionVerifier<UserRecord>;
  readonly ends: SessionEnds;
  readonly reader: { readonly challenge: Challenge };
  readonly whileOpen: WhileOpen;
  /** Reports causes of denials that are not the caller's own. */
  readonly causes: CauseReports;
  /** Called when the first part of a reply is written: the reply ends with its session. */
  readonly replyOpened: (response: NodeResponse, reply: ReplyOfCall) => void;
}

/** Key of the watched reply of a response. No WeakMap: one with an entry for each makes every collection longer. */
const REPLY = Symbol('reply');

/** The used part of a response of Node.js, over HTTP/1 and HTTP/2. */
export interface NodeResponse extends HoldableResponse {
  readonly writableEnded: boolean;
  [REPLY]?: ReplyOfCall;
}

export interface ReplyOfCall extends Writers {
  readonly call: GuardedCall;
  readonly admission: Admission & { readonly session: object };
  readonly registration: WatchRegistration;
  /** Another registration that has admitted the same request. */
  readonly next: ReplyOfCall | undefined;
  /** Whether a part of the reply was written. */
  isOpen: boolean;
}

/** Those of the response before it was watched. */
type Writers = Readonly<Pick<NodeResponse, 'writeHead' | 'write' | 'end' | 'flushHeaders'>>;

/**
 * Ends the reply of an admitted call with its session, if the reply is written in parts: everything else has
 * ended when its headers are sent. So a reply costs two functions in place of those that write its first
 * part, which are the same for all replies, and a stream costs nothing after its first part.
 */
export function watchReply(call: GuardedCall, registration: WatchRegistration): undefined {
  const admission = call.request[ADMISSION] as ReplyOfCall['admission'];
  // That of Node.js: the reply itself, or `raw` of Fastify's reply.
  const response = ((call.reply as { readonly raw?: object } | undefined)?.raw ?? call.reply) as
    | NodeResponse
    | undefined;
  // A reply that a test has built may have no part that is written.
  if (typeof response?.flushHeaders !== 'function') return;
  const next = response[REPLY];
  for (let other = next; other; other = other.next) if (other.registration === registration) return;
  const { writeHead, write, end, flushHeaders } = next ?? response;
  const added: ReplyOfCall = {
    call,
    admission,
    registration,
    next,
    writeHead,
    write,
    end,
    flushHeaders,
    isOpen: false,
  };
  response[REPLY] = added;
  if (next?.isOpen) open(response, added);
  if (next) return;
  response.write = writeFirst;
  response.flushHeaders = flushFirst;
  if (response.stream) Object.assign(response, HTTP2_WRITERS);
}

/** A wrapper that an application has set since calls it for each part. */
function writeFirst(this: NodeResponse, ...parameters: unknown[]): boolean {
  const isWrapped = this.write !== writeFirst;
  const { write } = opened(this);
  if (isHeld(this)) return keep(this, write, parameters);
  if (isWrapped && this.writableEnded) return false;
  return (isWrapped ? write : this.write).apply(this, parameters) as boolean;
}

function flushFirst(this: NodeResponse): void {
  const isWrapped = this.flushHeaders !== flushFirst;
  const { flushHeaders } = opened(this);
  if (isHeld(this)) keep(this, flushHeaders, []);
  else if (!this.writableEnded) (isWrapped ? flushHeaders : this.flushHeaders).call(this);
}

/** In HTTP/2, `writeHead()` sends the head, and `end()` calls `write()` and `writeHead()`. */
const HTTP2_WRITERS: Pick<Writers, 'writeHead' | 'end'> = {
  writeHead(this: NodeResponse, ...parameters) {
    const { writeHead } = opened(this);
    if (isHeld(this)) keep(this, writeHead, parameters);
    else writeHead.apply(this, parameters);
    return this;
  },

  /** It ends a reply that is written as a whole, or the last part has been written. */
  end(this: NodeResponse, ...parameters) {
    const { end } = unwatched(this);
    return end.apply(this, parameters);
  },
};

const WATCHERS: Writers = { write: writeFirst, flushHeaders: flushFirst, ...HTTP2_WRITERS };

function opened(response: NodeResponse): Writers {
  const reply = response[REPLY];
  for (let each = reply; each; each = each.next) open(response, each);
  return isHeld(response) ? (reply ?? response) : unwatched(response);
}

/** Restores the functions of the response that no wrapper of the application has replaced. */
function unwatched(response: NodeResponse): Writers {
  const writers = response[REPLY] ?? response;
  for (const name of Object.keys(WATCHERS) as (keyof Writers)[])
    if (response[name] === WATCHERS[name]) response[name] = writers[name];
  return writers;
}

function open(response: NodeResponse, reply: ReplyOfCall): void {
  if (reply.isOpen) return;
  reply.isOpen = true;
  reply.registration.replyOpened(response, reply);
}
