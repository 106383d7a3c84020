/** A startup failure that the operator can fix. The message is one plain sentence. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(message: string) {
    super(message.replaceAll(/\s+/g, ' '));
  }
}
