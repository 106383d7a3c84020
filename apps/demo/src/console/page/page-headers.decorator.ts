import { applyDecorators, Header } from '@nestjs/common';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Sets the headers of a file of the page, which can load only the other files. */
export function PageHeaders(contentType: string): MethodDecorator {
  return applyDecorators(
    Header('Content-Type', `${contentType}; charset=utf-8`),
    Header('Content-Security-Policy', CONTENT_SECURITY_POLICY),
    Header('X-Content-Type-Options', 'nosniff'),
    Header('Referrer-Policy', 'no-referrer'),
    Header('Cache-Control', 'no-cache'),
  );
}
