import { isSessionAuthError } from 'nestjs-session-auth/errors';
import { StartError } from './start-error.js';

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use: stop the program that listens there, or set PORT to another port',
  EACCES: 'needs privileges that this user does not have: set PORT to a port above 1023',
  EADDRNOTAVAIL: 'is not an address of this machine: set HOST to one of its addresses',
  ENOTFOUND: 'is not a known host: set HOST to an address of this machine',
};

/** Returns one line for a startup failure that the user can fix; undefined for any other. */
export function explainStartFailure(error: unknown): string | undefined {
  if (error instanceof StartError) return error.message;
  if (isSessionAuthError(error))
    return `SESSION_SERVICE_URL or SESSION_SERVICE_API_KEY is invalid: ${error.message}`;
  const { code = '', address, hostname, port } = (error ?? {}) as ListenFailure;
  const failure = LISTEN_FAILURES[code];
  return (
    failure && `${[address ?? hostname, port].filter((part) => part !== undefined).join(':')} ${failure}.`
  );
}

interface ListenFailure {
  readonly code?: string;
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}
