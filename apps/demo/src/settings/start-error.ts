/** A startup failure that the user can fix: the message says how, without a stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
