import * as common from '@nestjs/common';

/** Throws on a version of NestJS that lacks what the library needs: a sentence instead of a stack trace. */
export function requireSupportedNest(exported: object): void {
  // NestJS 11 added it.
  if ('IntrinsicException' in exported) return;
  const error = new Error(
    'nestjs-session-auth needs NestJS 11 or 12. This application has NestJS 10 or older.',
  );
  error.stack = error.message;
  throw error;
}

requireSupportedNest(common);
