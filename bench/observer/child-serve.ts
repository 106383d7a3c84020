import { type Answer, answerTo, type Call, type Handlers } from '../calls.js';
import { reportStalls } from './stalls.js';

/** A stall of a child on a busy machine. */
export interface Stalled {
  readonly stalledMs: number;
}

/**
 * Answers the calls of the parent. After `stop` the channel is closed and nothing ends this process: it has to end
 * by itself.
 */
export function serve(handlers: Handlers & { stop: () => Promise<void> }): void {
  const abandoned = (): void => process.exit(1);
  const answer = (message: Answer, then: () => void = () => undefined): void =>
    void process.send?.(message, then);
  const leave = (): void => {
    process.off('disconnect', abandoned);
    process.disconnect();
  };
  process.on('disconnect', abandoned);
  reportStalls((stalledMs) => {
    if (process.connected) process.send?.({ stalledMs } satisfies Stalled);
  });
  process.on('message', (call: Call) => {
    void answerTo(handlers, call).then((message) =>
      answer(message, call.name === 'stop' && !message.error ? leave : undefined),
    );
  });
}
