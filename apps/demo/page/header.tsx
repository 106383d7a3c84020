import { type VNode } from 'preact';
import { type ConsoleInfo } from '../src/console/messages.js';

const PLATFORMS: Readonly<Record<ConsoleInfo['platform'], string>> = { express: 'Express', fastify: 'Fastify' };
/** Only Express serves the page of the API; both platforms serve its document. */
const API_DOCS: Readonly<Record<ConsoleInfo['platform'], string>> = { express: 'docs', fastify: 'docs-json' };

/** Renders the purpose of the page, with links to the other pages of the backend. */
export function Header({ platform }: { readonly platform: ConsoleInfo['platform'] | undefined }): VNode {
  return (
    <header>
      <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" />
        <path d="M4.5 8.5l2.5 2.5 4.5-5.5" />
      </svg>
      <h1>nestjs-session-auth</h1>
      <p>A guarded NestJS backend{platform && ` on ${PLATFORMS[platform]}`}: sign in, try the routes, watch the guard.</p>
      <nav aria-label="More of the backend">
        <a href={API_DOCS[platform ?? 'express']}>OpenAPI</a> <a href="metrics">Prometheus metrics</a>{' '}
        <a href="api/health/session-service">Health</a>
      </nav>
    </header>
  );
}
