import { type ServerResponse } from 'node:http';

/** Calls back with the token that a sign-in issues, when its reply is sent. */
export function onIssued(response: ServerResponse, issued: (token: string) => void): void {
  const end = response.end.bind(response) as (...sent: unknown[]) => ServerResponse;
  response.end = (...sent: unknown[]): ServerResponse => {
    const token = tokenIn(sent[0]);
    if (response.statusCode === 200 && token !== undefined) issued(token);
    return end(...sent);
  };
}

function tokenIn(body: unknown): string | undefined {
  try {
    const { token } = JSON.parse(String(body)) as { readonly token?: unknown };
    return typeof token === 'string' ? token : undefined;
  } catch {
    return undefined;
  }
}
