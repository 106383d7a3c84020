import { EventEmitter, once } from 'node:events';
import type { Script } from './script.js';

/** Answers in turn: each script once, and the last one from then on. */
export function inTurn(...scripts: readonly [Script, ...Script[]]): Script {
  let calls = 0;
  return (...call) => scripts[Math.min(calls++, scripts.length - 1)]?.(...call);
}

/** Waits some milliseconds, and then answers. */
export function afterDelay(ms: number, answer: Script): Script {
  return (...call) => void setTimeout(() => answer(...call), ms).unref();
}

/** An answer that waits until the test lets it go. */
export interface HeldScript {
  /** What to give to `service.on()`. */
  readonly script: Script;
  /** Resolves when the first request is there. */
  readonly arrived: Promise<void>;
  /** Answers the requests that wait, and those to come. */
  release(): void;
}

/** Holds every request until `release()`, and then answers it. */
export function hold(answer: Script): HeldScript {
  const gate = new EventEmitter();
  const arrived = once(gate, 'arrived').then(() => undefined);
  const released = once(gate, 'released');
  const script: Script = (...call) => {
    gate.emit('arrived');
    void released.then(() => answer(...call));
  };
  return { script, arrived, release: () => void gate.emit('released') };
}
