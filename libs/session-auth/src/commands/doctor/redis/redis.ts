import type { Examination } from '../examination.js';

/** Examines the Redis of a shared cache. */
export async function examineRedis({ findings }: Examination): Promise<void> {
  findings.unknown('redis', 'not yet');
  await Promise.resolve();
}
