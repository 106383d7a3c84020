import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type IncomingMessage } from 'node:http';

/** Admits requests of the demo's own page and of programs, and denies those of other sites' pages in the same browser. */
@Injectable()
export class OwnPageGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Pick<IncomingMessage, 'headers'>>();
    const { 'sec-fetch-site': site, origin, host = '' } = headers;
    if (site !== undefined) return site === 'same-origin' || site === 'none';
    // Over plain HTTP, browsers send Sec-Fetch-Site to their own machine only, and Origin to all others.
    return origin === undefined || [`http://${host}`, `https://${host}`].includes(origin);
  }
}
