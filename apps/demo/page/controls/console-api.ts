import { type CacheChoice } from '../../src/backend/cache-choice.js';
import { type Load, type LoadResult } from '../../src/console/messages.js';
import { type Fault } from '../../src/session-service/fault.js';

/** What the console answered when it did not do as it was told. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';

  constructor(readonly status: number) {
    super(status === 0 ? 'The demo did not answer.' : `The demo answered ${status}.`);
  }
}

export async function putFault(fault: Fault): Promise<void> {
  await order('PUT', 'fault', { fault });
}

export async function putCache(choice: CacheChoice): Promise<void> {
  await order('PUT', 'cache', choice);
}

/** Ends all sessions at the session service; resolves to how many there were. */
export async function endSessions(): Promise<number> {
  const reply = await order('POST', 'end-sessions');
  return ((await reply.json()) as { readonly ended: number }).ended;
}

export async function countAnew(): Promise<void> {
  await order('POST', 'reset');
}

/** Starts a run of load; resolves to its result, or at once to undefined if it goes on in the background. */
export async function startLoad(load: Load, token: string): Promise<LoadResult | undefined> {
  const reply = await order('POST', 'load', { load, token });
  return reply.status === 200 ? ((await reply.json()) as LoadResult) : undefined;
}

export async function stopLoad(): Promise<void> {
  await order('DELETE', 'load');
}

/** What to tell the visitor of a failure. */
export function sayFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function order(method: string, what: string, body?: unknown): Promise<Response> {
  const reply = await fetch(`/console/${what}`, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => undefined);
  if (!reply?.ok) throw new ConsoleError(reply?.status ?? 0);
  return reply;
}
