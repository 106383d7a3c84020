import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type IncomingMessage } from 'node:http';

/** Lets the demo's own page press buttons, and programs; not the pages of others in the same browser. */
@Injectable()
export class OwnPageGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Pick<IncomingMessage, 'headers'>>();
    const { 'sec-fetch-site': site, origin, host = '' } = headers;
    if (site !== undefined) return site === 'same-origin' || site === 'none';
    // Over plain HTTP browsers say where a request comes from by this header alone, except to the machine that they run on.
    return origin === undefined || [`http://${host}`, `https://${host}`].includes(origin);
  }
}
