import { StartError } from './start-error.js';

/** The address on which the demo listens. */
export interface ListenSettings {
  readonly port: number;
  readonly host: string;
}

/**
 * Reads PORT (default 3000) and HOST (default 127.0.0.1, so that the network can't reach the demo by
 * accident). Empty means absent.
 */
export function readListenSettings({ PORT: port = '', HOST: host = '' }: NodeJS.ProcessEnv): ListenSettings {
  return { port: readPort(port === '' ? '3000' : port), host: host === '' ? '127.0.0.1' : host };
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new StartError(`PORT must be a whole number from 0 to 65535 (0: any free port), not "${text}".`);
}
