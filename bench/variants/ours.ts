import { SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import type { VariantParts, VariantSetup } from './variant.js';

/** The library as it comes: every limit and every time-out on. */
export function variant({ serviceUrl, cache }: VariantSetup): VariantParts {
  const session = SessionAuthModule.forRoot({ baseUrl: serviceUrl, apiKey: 'application-key', ...(cache && { cache }) });
  return { imports: [session], guard: SessionAuthGuard };
}
