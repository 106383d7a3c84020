import { randomUUID } from 'node:crypto';
import type { RedisSessionStore } from '../../../redis/redis-session-store.js';
import type { Examination } from '../examination.js';

/** A subscription is active, or refused, within this time. */
const MAX_WAIT_MS = 5_000;

/** Publishes a message on a channel of its own, and waits for it. */
export async function examineMessages({ findings, settings }: Examination, store: RedisSessionStore): Promise<void> {
  const id = randomUUID();
  let settle: (problem?: string) => void = () => undefined;
  const outcome = new Promise<string | undefined>((resolve) => (settle = resolve));
  const timer = setTimeout(() => settle('A published message does not arrive'), Math.min(settings.timeoutMs, MAX_WAIT_MS)).unref();
  const stop = store.subscribe({
    message: (bytes) => {
      if (Buffer.from(bytes).toString() === id) settle();
    },
    subscribed: () => void store.publish(Buffer.from(id)).catch(() => settle('Redis refuses to publish: grant +publish and the channels')),
    interrupted: (reason) => settle(reason),
  });
  const problem = await outcome;
  clearTimeout(timer);
  await stop();
  if (problem === undefined) findings.ok('redis-messages', 'A published message arrives: a sign-out reaches every instance.');
  else findings.fail('redis-messages', `${problem}. Without messages, a sign-out reaches other instances when their entries expire.`);
}
