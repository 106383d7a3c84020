import type { ExecutionContext } from '@nestjs/common';
import { fromCookie, fromHeader } from 'nestjs-session-auth';
import { SessionReader } from '../../libs/session-auth/src/guard/token-source.js';
import { handshakeRequest } from '../../libs/session-auth/src/kinds/handshake-request.js';
import type { CallRequest } from '../../libs/session-auth/src/guard/transport.js';
import { COOKIE, HEADER, TRUSTED, type BrowserCase } from './browser-case.js';
import { trimmed, type Presented } from './browser-oracle.js';

const sources = [fromHeader(HEADER), fromCookie(COOKIE, { trustedOrigins: [TRUSTED] })];
const sessions = new SessionReader({ sources, forwardAuthIv: true, maxTokenLength: 4_096 });

/**
 * As Node.js reads header lines, without blanks around a value, and joins them: the first `Host`, cookies by
 * `; `, others by `, `.
 */
function requestOf({ method, lines: sentLines, kind }: BrowserCase): CallRequest {
  const lines = sentLines.map(([name, value]) => [name, trimmed(value)] as const);
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of lines) {
    const key = name.toLowerCase();
    const before = headers[key];
    if (before === undefined) headers[key] = value;
    else if (key !== 'host' && key !== 'referer')
      headers[key] = `${before}${key === 'cookie' ? '; ' : ', '}${value}`;
  }
  if (kind !== 'request') headers.upgrade = 'websocket';
  return {
    method: kind === 'request' ? method : 'GET',
    headers,
    rawHeaders: [...lines.flat(), ...(kind === 'request' ? [] : ['Upgrade', 'websocket'])],
  };
}

const FOUND_BY_CODE = {
  SESSION_REQUIRED: 'no token',
  SESSION_REJECTED: 'malformed token',
  CROSS_ORIGIN_DENIED: 'cross-origin',
} as const;

/** Returns the token that the library reads from a case, without a server. */
export function read(one: BrowserCase): Presented {
  const upgrade = requestOf(one);
  const request =
    one.kind === 'request'
      ? upgrade
      : handshakeRequest(upgrade, one.kind === 'fields' ? one.fields : undefined);
  const found = sessions.read({} as ExecutionContext, request);
  return 'code' in found ? FOUND_BY_CODE[found.code] : { token: found.token };
}
