/** The command line or the environment is not usable. Its message is one sentence, without any value that a user typed. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
