import { DEMO_ACCOUNTS, DEMO_API_KEY } from 'session-service';

/**
 * Signs in `count` times at the embedded session service itself. Resolves to the tokens of the successful
 * sign-ins.
 */
export async function openSessions(serviceUrl: string, count: number): Promise<string[]> {
  const tokens = await Promise.all(
    Array.from({ length: count }, () => signIn(serviceUrl).catch(() => undefined)),
  );
  return tokens.filter((token) => token !== undefined);
}

async function signIn(serviceUrl: string): Promise<string | undefined> {
  const account = DEMO_ACCOUNTS.find(({ pending }) => !pending);
  const reply = await fetch(`${serviceUrl}/authentication`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': DEMO_API_KEY },
    body: JSON.stringify({ username: account?.profile.username, password: account?.password }),
  });
  const { auth_token: token } = (await reply.json()) as { readonly auth_token?: string };
  return token;
}
