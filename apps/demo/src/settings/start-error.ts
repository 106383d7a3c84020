/** Something that whoever starts the demo can put right: the message says what, and no stack trace helps. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
