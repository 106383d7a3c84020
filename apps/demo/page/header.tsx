import { type VNode } from 'preact';
import { type ConsoleInfo } from '../src/console/messages.js';

const PLATFORMS: Readonly<Record<ConsoleInfo['platform'], string>> = {
  express: 'Express',
  fastify: 'Fastify',
};
/** Only Express serves the page of the API; both platforms serve its document. */
const API_DOCS: Readonly<Record<ConsoleInfo['platform'], string>> = { express: 'docs', fastify: 'docs-json' };

interface HeaderProps {
  readonly platform: ConsoleInfo['platform'] | undefined;
  readonly isOpen: boolean;
  /** Absent if free play is always open. */
  readonly toggle: (() => void) | undefined;
}

/** Renders the name, links to the other pages of the backend, and the switch of free play. */
export function Header({ platform, isOpen, toggle }: HeaderProps): VNode {
  return (
    <header>
      <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
        <rect width="16" height="16" rx="4" />
        <path d="M4.5 8.5l2.5 2.5 4.5-5.5" />
      </svg>
      <h1>
        nestjs-session-auth <small>{platform && `on ${PLATFORMS[platform]}`}</small>
      </h1>
      <nav aria-label="More of the backend">
        <a href={API_DOCS[platform ?? 'express']}>OpenAPI</a> <a href="metrics">Metrics</a>{' '}
        <a href="api/health/session-service">Health</a>
      </nav>
      {toggle && (
        <button type="button" class="quiet" aria-expanded={isOpen} aria-controls="free-play" onClick={toggle}>
          Free play
        </button>
      )}
    </header>
  );
}
