import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type IncomingMessage } from 'node:http';

/** Lets the demo's own page press buttons, and programs; not the pages of others in the same browser. */
@Injectable()
export class OwnPageGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<Pick<IncomingMessage, 'headers'>>();
    return ['same-origin', 'none', undefined].includes(headers['sec-fetch-site']);
  }
}
