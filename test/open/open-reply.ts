import { get, request, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

/** A reply that a client reads while it is written. */
export interface OpenReply {
  readonly status: number;
  /** All that has arrived. */
  text(): string;
  /** Resolves when the reply is over: whether it was complete. */
  over(): Promise<'complete' | 'cut'>;
  leave(): void;
}

/** Begins a call, and reads its reply. */
export async function openReply(url: string, token: string, method = 'GET'): Promise<OpenReply> {
  const call = (method === 'GET' ? get : request)(url, {
    method,
    agent: false,
    headers: { 'x-auth-token': token },
  });
  if (method !== 'GET') call.end();
  const [reply] = (await once(call, 'response')) as [IncomingMessage];
  let text = '';
  reply.setEncoding('utf8');
  reply.on('data', (part: string) => (text += part));
  reply.on('error', () => undefined);
  const closed = new Promise((resolve) => reply.once('close', resolve));
  return {
    status: reply.statusCode ?? 0,
    text: () => text,
    over: async () => {
      await closed;
      return reply.complete ? 'complete' : 'cut';
    },
    leave: () => call.destroy(),
  };
}
