import type { IncomingHttpHeaders } from 'node:http';
import type { Reply } from '../../client/http/reply.js';

/** A reply, with its times. */
export interface ReplyAnswer extends Reply {
  readonly kind: 'reply';
  readonly headers: IncomingHttpHeaders & Readonly<Record<string, unknown>>;
  /** Bytes of the body that were read. */
  readonly bytes: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  /** Whether the call used a connection of an earlier call. */
  readonly reused: boolean;
}

/** The code of a call that the user ended. */
export const INTERRUPTED = 'INTERRUPTED';

/** No complete reply: a code of Node.js, or one of our own. */
export interface FailedAnswer {
  readonly kind: 'failure';
  /** `TIMEOUT`, `TOO_LARGE`, `INTERRUPTED`, or a code such as `ECONNREFUSED`. */
  readonly code: string;
  readonly totalMs: number;
  readonly reused: boolean;
}

/** The outcome of a call. */
export type Answer = ReplyAnswer | FailedAnswer;

/** Returns the status of a reply; `undefined` if there was none. */
export function statusOf(answer: Answer | undefined): number | undefined {
  return answer?.kind === 'reply' ? answer.status : undefined;
}

/** Returns whether a reply has a body. */
export function hasBody({ body }: Reply): boolean {
  return body?.length !== 0;
}

/** Returns how a reply is named in a text, such as `404 with a body`. */
export function described(answer: Answer): string {
  if (answer.kind === 'failure') return `no reply (${answer.code})`;
  return answer.status === 404 && hasBody(answer) ? '404 with a body' : String(answer.status);
}

/** Returns whether two answers look the same to the guard: a 404 with a body differs from an empty one. */
export function isSame(one: Answer, other: Answer): boolean {
  return described(one) === described(other);
}

const HTML = /^\s*(?:<!doctype html|<html|<head|<body)/i;

/** Returns whether a reply is a web page. */
export function isWebPage({ headers, body }: Reply): boolean {
  const type = headers['content-type'];
  return (typeof type === 'string' && /^text\/html/i.test(type)) || HTML.test(body?.toString('latin1', 0, 200) ?? '');
}

/** Returns whether a reply is a redirect. */
export function isRedirect({ status }: Reply): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** Returns the `auth_token` in a body of any type, so that a session can be ended even if the library can't read its record. */
export function tokenIn({ body }: ReplyAnswer): string | undefined {
  try {
    const json = JSON.parse(body?.toString() ?? '') as { readonly auth_token?: unknown } | null;
    return typeof json?.auth_token === 'string' ? json.auth_token : undefined;
  } catch {
    return undefined;
  }
}
