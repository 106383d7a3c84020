import { randomUUID } from 'node:crypto';

/** What a test says about users and sessions. */
export class TestBook {
  readonly sessions = new Map<string, object>();
  readonly accounts = new Map<string, { readonly password: string; readonly record: object }>();
  isDown = false;

  /** Opens a session and gives its token. */
  open(record: object): string {
    const token = `test-${randomUUID()}`;
    this.sessions.set(token, { ...record, auth_token: token });
    return token;
  }
}
