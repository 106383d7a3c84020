import { type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const NAME = 'nestjs-session-auth';
const COMMAND = 'npx nest add';
const CONFIRMED_MS = 2_000;

/** Renders what the guard does, for a reader who has never seen it, and how to install it. */
export function Install(): VNode {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void =>
    void navigator.clipboard.writeText(`${COMMAND} ${NAME}`).then(() => setCopied(true));
  return (
    <div class="install">
      <p>
        A session service signs your users in and knows whose token is whose. This guard checks every request
        to your NestJS backend with it: HTTP, GraphQL, WebSockets and messages.
      </p>
      <p class="command">
        <code>
          {COMMAND} <span>{NAME}</span>
        </code>
        {isSecureContext && (
          <button type="button" class="small" onClick={copy} aria-live="polite">
            {isCopied ? 'Copied' : 'Copy'}
          </button>
        )}
      </p>
    </div>
  );
}
