import { ServiceUnavailableException } from '@nestjs/common';
import { DatabaseError } from 'pg';

/**
 * SQLSTATE classes and codes of an outage: connection lost, no resources, shutdown, time-out, read-only
 * replica, deadlock.
 */
const OUTAGE = /^(08|40|53|57|58)|^(25006|25P03|25P04|55P03)$/;

/** The database did not respond: 503. Contains only a code, because an address may contain a secret. */
export class DatabaseUnavailableError extends ServiceUnavailableException {
  override readonly name = 'DatabaseUnavailableError';

  /** @param code - of the operating system or of PostgreSQL, if there is one */
  constructor(readonly code: string | undefined) {
    super(`The database is not available (${code ?? 'connection lost, or no response in time'}).`);
  }
}

/** Returns whether an error comes from the connection or the server, not from the query. */
export function isOutage(error: unknown): boolean {
  return !(error instanceof DatabaseError) || OUTAGE.test(error.code ?? '');
}

/** Returns the code of an error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
