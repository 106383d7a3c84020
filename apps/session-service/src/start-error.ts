/** The service cannot start, for a reason that the person who starts it can mend. The message is one plain sentence. */
export class StartError extends Error {
  override readonly name = 'StartError';

  constructor(message: string) {
    super(message.replaceAll(/\s+/g, ' '));
  }
}
