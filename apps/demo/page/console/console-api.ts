import { type CacheChoice } from '../../src/backend/cache-choice.js';
import { type Load, type LoadResult, type SceneLine, type SceneName } from '../../src/console/messages.js';
import { type Fault } from '../../src/session-service/fault.js';

const MESSAGES: Readonly<Record<number, string>> = {
  0: 'The demo did not reply. Is it still running?',
  409: 'Something else runs on the demo, perhaps in another tab: wait until it ends.',
};

/** A request to the console that failed. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';

  constructor(readonly status: number) {
    super(MESSAGES[status] ?? `The demo replied with ${status}.`);
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

/** Asks the demo to send a few requests, unless something else runs. Never rejects. */
export async function sendTrickle(): Promise<void> {
  await request('POST', 'trickle').catch(() => undefined);
}

/** Runs a scene. Calls back with each line of its reply, until the scene is over or the signal aborts. */
export async function runScene(
  scene: SceneName,
  signal: AbortSignal,
  onLine: (line: SceneLine) => void,
): Promise<void> {
  const { body } = await request('POST', 'scenes', { scene }, signal);
  let rest = '';
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    const lines = `${rest}${read.value}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(JSON.parse(line) as SceneLine);
  }
}

/** Returns the message of a failure. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function request(
  method: string,
  control: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  const reply = await fetch(`/console/${control}`, {
    method,
    ...(signal && { signal }),
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  }).catch(() => undefined);
  if (!reply?.ok) throw new ConsoleError(reply?.status ?? 0);
  return reply;
}
