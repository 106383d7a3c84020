import { signOut, tokenFrom, userDetails } from './demo-calls.js';
import { expectEmpty, expectUserRecord } from './expectations.js';
import type { ServiceProcess } from './service-process.js';

/**
 * Kills a service right after the 200 of a sign-out: the next one still has it, and the sessions that remain
 * valid.
 */
export async function expectSignOutToOutliveKill(start: () => Promise<ServiceProcess>): Promise<void> {
  const service = await start();
  const [ended, goesOn] = [await tokenFrom(service.url), await tokenFrom(service.url)];
  expectEmpty(await signOut(service.url, ended), 200);
  await service.end('SIGKILL');

  const restarted = await start();
  expectEmpty(await userDetails(restarted.url, ended), 401);
  expectUserRecord(await userDetails(restarted.url, goesOn));
}
