import { types } from 'node:util';

/** Settles as the work does, or rejects when the time is over or the signal is aborted. Leaves no timer and no listener behind. */
export function bounded<Result>(work: Promise<Result>, ms: number, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => settle(() => reject(new Error('Aborted')));
    const timer = setTimeout(() => settle(() => reject(new NoAnswer())), ms).unref();
    const settle = (how: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      how();
    };
    signal.addEventListener('abort', onAbort);
    work.then(
      (result) => settle(() => resolve(result)),
      (error: unknown) => settle(() => reject(toError(error))),
    );
    if (signal.aborted) onAbort();
  });
}

/** The time of a {@link bounded} work is over. */
export class NoAnswer extends Error {}

/** An error of another realm is one too. */
function toError(error: unknown): Error {
  return types.isNativeError(error) ? error : new Error('Rejected');
}
