import type { SessionAuthOptions } from 'nestjs-session-auth';
import type { Report } from '../../libs/session-auth-cli/src/doctor/report.js';
import { EXPRESS, startApp } from '../support/platforms.js';
import { sampleApp } from '../support/sample-app.js';
import { API_KEY } from './odd-service.js';

/**
 * Starts an application with the advised options, and asks it for its user with a session, and with a junk
 * token.
 */
export async function askGuard(
  { baseUrl, ...others }: Report['options'] & { readonly baseUrl: string },
  token: string,
  apiKey = API_KEY,
): Promise<readonly [user: number, junk: number]> {
  const app = await startApp(
    EXPRESS,
    sampleApp({ baseUrl, options: { apiKey, ...(others as Partial<SessionAuthOptions>) } }),
  );
  try {
    const [user, junk] = await Promise.all([
      app.get('/me', token),
      app.get('/me', 'a-token-that-was-never-issued'),
    ]);
    return [user.status, junk.status];
  } finally {
    await app.close();
  }
}
