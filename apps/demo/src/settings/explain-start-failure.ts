import { isSessionAuthError } from 'nestjs-session-auth/errors';
import { StartError } from './start-error.js';

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop what listens there, or set PORT to another one',
  EACCES: 'may not be used by this user: set PORT to one above 1023',
  EADDRNOTAVAIL: 'is not on this machine: set HOST to one of its own addresses',
  ENOTFOUND: 'is not a known host: set HOST to an address of this machine',
};

/** One line for a failure that whoever starts the demo can put right; undefined for any other. */
export function explainStartFailure(error: unknown): string | undefined {
  if (error instanceof StartError) return error.message;
  if (isSessionAuthError(error)) return `SESSION_SERVICE_URL or SESSION_SERVICE_API_KEY is not usable: ${error.message}`;
  const { code = '', address, hostname, port } = (error ?? {}) as ListenFailure;
  const failure = LISTEN_FAILURES[code];
  return failure && `${[address ?? hostname, port].filter((part) => part !== undefined).join(':')} ${failure}.`;
}

interface ListenFailure {
  readonly code?: string;
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}
