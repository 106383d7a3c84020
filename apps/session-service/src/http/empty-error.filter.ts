import { type ServerResponse } from 'node:http';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  HttpStatus,
  Logger,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import { DatabaseUnavailableError } from '../database/database-unavailable.error.js';
import { TooManyFailuresError } from '../sign-in-limits/too-many-failures.error.js';
import { OutageLog } from './outage-log.js';

/**
 * Responds to every error with its status and an empty body (interface, 7). Logs only unexpected errors and
 * outages.
 */
@Catch()
export class EmptyErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger(EmptyErrorFilter.name);
  private readonly outages = new OutageLog();

  catch(error: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerResponse>();
    if (!(error instanceof HttpException))
      this.logger.error(error instanceof Error ? error.stack : 'A value that is not an Error was thrown.');
    if (error instanceof DatabaseUnavailableError) this.outages.note(error.message);
    if (!response.headersSent) {
      response.statusCode =
        error instanceof HttpException ? error.getStatus() : HttpStatus.INTERNAL_SERVER_ERROR;
      if (!(error instanceof UnauthorizedException)) response.setHeader('Cache-Control', 'no-store');
      if (error instanceof ServiceUnavailableException) response.setHeader('Retry-After', 1);
      if (error instanceof TooManyFailuresError) response.setHeader('Retry-After', error.retryAfterSeconds);
    }
    response.end();
  }
}
