/** A user of the embedded session service, with the published password. */
export interface DemoUser {
  readonly username: string;
  readonly password: string;
  /** The roles of the user, or the effect of the sign-in. */
  readonly about: string;
}
