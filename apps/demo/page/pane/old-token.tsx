import { type VNode } from 'preact';
import { ME } from '../backend/routes.js';
import { type Client } from '../backend/use-client.js';
import { useLostFocus } from './use-lost-focus.js';

/** Offers to present the token of a session again after its sign-out. */
export function OldToken({ client, token }: { readonly client: Client; readonly token: string }): VNode {
  const again = useLostFocus();
  return (
    <p class="old-token">
      <button ref={again} type="button" class="small" onClick={() => void client.tryRoute(ME, ME.path, token)}>
        Try the old token again
      </button>{' '}
      <span class="hint">The session has ended.</span>
    </p>
  );
}
