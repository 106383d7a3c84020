import { ServiceUnavailableException } from '@nestjs/common';
import { DatabaseError } from 'pg';

/** SQLSTATE classes and codes of a server that cannot work now: lost, out of resources, shut down, too slow, a replica, a deadlock. */
const OUTAGE = /^(08|40|53|57|58)|^(25006|25P03|25P04|55P03)$/;

/** The database gave no answer: 503, try again in a moment. Carries nothing but a code, as an address may hold a secret. */
export class DatabaseUnavailableError extends ServiceUnavailableException {
  override readonly name = 'DatabaseUnavailableError';

  /** @param code - of the operating system or of PostgreSQL, where there is one */
  constructor(readonly code: string | undefined) {
    super(`The database is not available (${code ?? 'connection lost or no answer in time'}).`);
  }
}

/** Whether an error of a query is one of the connection or the server, and not one of the query. */
export function isOutage(error: unknown): boolean {
  return !(error instanceof DatabaseError) || OUTAGE.test(error.code ?? '');
}

/** The code of an error, where it has one. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
