import { type CacheChoice } from '../../src/backend/cache-choice.js';
import { type Load, type LoadResult } from '../../src/console/messages.js';
import { type Fault } from '../../src/session-service/fault.js';

/** A request to the console that failed. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';

  constructor(readonly status: number) {
    super(status === 0 ? 'The demo did not reply. Is it still running?' : `The demo replied with ${status}.`);
  }
}

/** Sets the fault of the embedded session service. */
export async function putFault(fault: Fault): Promise<void> {
  await request('PUT', 'fault', { fault });
}

/** Changes the session cache of the backend. */
export async function putCache(choice: CacheChoice): Promise<void> {
  await request('PUT', 'cache', choice);
}

/** Ends all sessions at the session service. Resolves to their number. */
export async function endSessions(): Promise<number> {
  const reply = await request('POST', 'end-sessions');
  return ((await reply.json()) as { readonly ended: number }).ended;
}

/** Sets all counts to zero. */
export async function resetCounts(): Promise<void> {
  await request('POST', 'reset');
}

/** Starts a run of load. Resolves to its result, or to undefined if it continues in the background. */
export async function startLoad(load: Load, token: string): Promise<LoadResult | undefined> {
  const reply = await request('POST', 'load', { load, token });
  return reply.status === 200 ? ((await reply.json()) as LoadResult) : undefined;
}

/** Stops the run of load. */
export async function stopLoad(): Promise<void> {
  await request('DELETE', 'load');
}

/** Returns the message of a failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function request(method: string, control: string, body?: unknown): Promise<Response> {
  const reply = await fetch(`/console/${control}`, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  }).catch(() => undefined);
  if (!reply?.ok) throw new ConsoleError(reply?.status ?? 0);
  return reply;
}
