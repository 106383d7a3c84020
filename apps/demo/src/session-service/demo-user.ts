/** A user whom the embedded session service knows, with the password that the page may fill in. */
export interface DemoUser {
  readonly username: string;
  readonly password: string;
  /** What this user shows. */
  readonly about: string;
}
