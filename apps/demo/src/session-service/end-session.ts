import { DEMO_API_KEY } from 'session-service';

/** Signs out at the embedded session service itself, without the backend. */
export async function endSession(serviceUrl: string, token: string): Promise<void> {
  const headers = { 'x-api-key': DEMO_API_KEY, 'x-auth-token': token };
  await (await fetch(`${serviceUrl}/authentication`, { method: 'DELETE', headers })).arrayBuffer();
}
