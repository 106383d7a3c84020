import type { SessionIdentity } from '../contract/session-identity.js';
import { AUTH_IV_HEADER, AUTH_TOKEN_HEADER } from '../contract/wire.js';

const NAMES: ReadonlySet<string> = new Set(
  [AUTH_TOKEN_HEADER, AUTH_IV_HEADER].map((name) => name.toLowerCase()),
);

export function sessionHeaders(session: SessionIdentity | undefined): Record<string, string> {
  if (!session) return {};
  const { token, authIv } = session;
  return { [AUTH_TOKEN_HEADER]: token, ...(authIv !== undefined && { [AUTH_IV_HEADER]: authIv }) };
}

export function removeSessionHeaders(headers: Record<string, unknown>): void {
  for (const name of Object.keys(headers))
    if (NAMES.has(name.toLowerCase())) Reflect.deleteProperty(headers, name);
}
