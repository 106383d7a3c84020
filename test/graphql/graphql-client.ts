import { createClient, type Client } from 'graphql-ws';
import { WebSocket } from 'ws';

export interface GraphqlReply {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: unknown;
    readonly extensions: Record<string, unknown>;
  }[];
}

/** Sends an operation, or a list of them as a batch. */
export async function postGraphql(
  url: string,
  body: unknown,
  token?: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const own = { 'content-type': 'application/json', ...(token !== undefined && { 'x-auth-token': token }) };
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...own, ...headers },
    body: JSON.stringify(body),
  });
}

interface SocketSetup {
  readonly headers?: Record<string, string>;
  /** Connects with the first operation only. */
  readonly lazy?: boolean;
  /** Receives the event that closes the socket. */
  readonly closed?: (event: unknown) => void;
}

/** A client over graphql-ws that presents something when it connects. */
export function graphqlSocket(
  url: string,
  connectionParams: Record<string, unknown>,
  { headers = {}, lazy = false, closed = () => undefined }: SocketSetup = {},
): Client {
  class Socket extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers });
    }
  }
  return createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: Socket,
    connectionParams,
    retryAttempts: 0,
    lazy,
    onNonLazyError: () => undefined,
    on: { closed },
  });
}

/** Everything that comes of an operation, an error among it. */
export async function allOf(client: Client, query: string): Promise<unknown[]> {
  const received: unknown[] = [];
  try {
    for await (const { data, errors } of client.iterate({ query })) received.push(errors ?? data);
  } catch (errors) {
    received.push(errors);
  }
  return received;
}
