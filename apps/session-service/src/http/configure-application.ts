import { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type NestExpressApplication } from '@nestjs/platform-express';

/**
 * Sets the defaults of every response, and the limits of the server. The application is created with
 * `bodyParser: false`: see JsonBodyInterceptor.
 */
export function configureApplication(app: NestExpressApplication): void {
  app.disable('x-powered-by');
  app.disable('etag');
  app.use((request: IncomingMessage, response: ServerResponse, next: () => void) => {
    // The interface has no 304, which Express sends for "If-None-Match: *" even without an ETag.
    delete request.headers['if-none-match'];
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  const server: Server = app.getHttpServer();
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
}
