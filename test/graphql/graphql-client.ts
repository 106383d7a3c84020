/** A reply of a GraphQL server. */
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
