import { type IncomingMessage } from 'node:http';
import { type CanActivate, type ExecutionContext, ForbiddenException, Injectable } from '@nestjs/common';
import { findSingleHeader } from '../http/single-header.js';
import { ApplicationKeys } from './application-keys.js';

/**
 * Responds with 403 unless the request has exactly one `X-API-KEY`, of a known application. Runs before the
 * body is read.
 */
@Injectable()
export class ApplicationKeyGuard implements CanActivate {
  constructor(private readonly keys: ApplicationKeys) {}

  canActivate(context: ExecutionContext): true {
    const key = findSingleHeader(context.switchToHttp().getRequest<IncomingMessage>(), 'x-api-key');
    if (key === undefined || !this.keys.include(key)) throw new ForbiddenException();
    return true;
  }
}
