import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A session service that accepts the tokens of the test, and counts its calls. */
export interface AcceptingService {
  readonly url: string;
  /** Calls for each token. */
  readonly calls: Map<string, number>;
  close(): Promise<void>;
}

/** Starts a service that answers with the user of a token, or refuses it. */
export async function startAcceptingService(
  userOf: (token: string) => string | undefined,
): Promise<AcceptingService> {
  const calls = new Map<string, number>();
  const server = createServer(({ headers }, response) => {
    const token = String(headers['x-auth-token']);
    calls.set(token, (calls.get(token) ?? 0) + 1);
    const username = userOf(token);
    response.writeHead(username === undefined ? 401 : 200, { 'content-type': 'application/json' });
    response.end(username === undefined ? '' : JSON.stringify({ username }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
