import { answerTo, type Call, type Handlers } from '../calls.js';

/**
 * Answers the parent's calls of these handlers until it disconnects; then ends this process, with everything
 * that is still open.
 */
export function serve(handlers: Handlers): void {
  process.on('message', (call: Call) => {
    if (!Object.hasOwn(handlers, call.name)) return;
    void answerTo(handlers, call).then((answer) => process.send?.(answer));
  });
  process.on('disconnect', () => process.exit());
}
