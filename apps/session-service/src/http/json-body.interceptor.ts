import { type IncomingMessage } from 'node:http';
import {
  BadRequestException,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { type Observable } from 'rxjs';
import { readJsonBody } from './read-json-body.js';

/** Longest accepted body of a request. */
export const MAX_BODY_BYTES = 16 * 1024;

/**
 * Reads the JSON object in the body for `@Body()`. An interceptor runs after the guards, so that a caller
 * without an application key gets its response before its body is read.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<IncomingMessage & { body?: unknown }>();
    const body = await readJsonBody(request, MAX_BODY_BYTES);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new BadRequestException();
    request.body = body;
    return next.handle();
  }
}
