import { UnauthorizedException, type ExecutionContext } from '@nestjs/common';

/** As much of a request as the guards of the peers know. */
export interface PresentingRequest {
  readonly headers: Record<string, string | undefined>;
  user?: unknown;
}

/** The request of a context. */
export function requestOf(context: ExecutionContext): PresentingRequest {
  return context.switchToHttp().getRequest<PresentingRequest>();
}

/** The token that a request presents. */
export function tokenOf({ headers }: PresentingRequest): string {
  const token = headers['x-auth-token'];
  if (!token) throw new UnauthorizedException();
  return token;
}

/** The headers of a call to the session service. */
export function callHeaders(token: string): Record<string, string> {
  return { accept: 'application/json', 'x-api-key': 'application-key', 'x-auth-token': token };
}
