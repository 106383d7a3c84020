/** What identifies a session to the service: the token, and the IV that came with it. */
export interface SessionIdentity {
  readonly token: string;
  readonly authIv: string | undefined;
}
