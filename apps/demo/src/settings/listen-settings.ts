import { StartError } from './start-error.js';

/** Where the demo listens. */
export interface ListenSettings {
  readonly port: number;
  readonly host: string;
}

/** Reads PORT (3000) and HOST (127.0.0.1, so that nobody else on the network reaches a demo by accident); empty is absent. */
export function readListenSettings({ PORT: port = '', HOST: host = '' }: NodeJS.ProcessEnv): ListenSettings {
  return { port: readPort(port === '' ? '3000' : port), host: host === '' ? '127.0.0.1' : host };
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new StartError(`PORT must be a whole number from 0 to 65535 (0: any free port), but is "${text}".`);
}
