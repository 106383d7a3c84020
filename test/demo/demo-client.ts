/** A reply with its body read, so that a test can search it for secrets. */
export interface DemoReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): unknown;
}

/** How a request differs from a plain one. */
interface DemoRequest {
  readonly token?: string;
  readonly body?: unknown;
}

/** Sends requests to a demo as its page does. */
export class DemoClient {
  constructor(private readonly url: string) {}

  async send(method: string, path: string, { token, body }: DemoRequest = {}): Promise<DemoReply> {
    const reply = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { 'x-auth-token': token }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, headers: reply.headers, text, json: () => JSON.parse(text) as unknown };
  }

  get(path: string, token?: string): Promise<DemoReply> {
    return this.send('GET', path, token === undefined ? {} : { token });
  }

  signIn(username: string, password: string): Promise<DemoReply> {
    return this.send('POST', '/api/session', { body: { username, password } });
  }

  /** The token of a new session of one of the demo's users, whose passwords are published. */
  async tokenOf(username: string): Promise<string> {
    return ((await this.signIn(username, `${username}-demo`)).json() as { token: string }).token;
  }
}
