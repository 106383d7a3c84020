import { type VNode } from 'preact';
import { type ConsoleInfo } from '../../src/console/messages.js';
import { type Client } from '../backend/use-client.js';
import { useLostFocus } from './use-lost-focus.js';

/** Who is signed in, and the way out. */
export function SignedIn({ client, users }: { readonly client: Client; readonly users: ConsoleInfo['users'] | undefined }): VNode {
  const way = useLostFocus();
  const about = users?.find(({ username }) => username === client.username)?.about;
  return (
    <>
      <p class="who in">
        <strong>{client.username}</strong> {about}
      </p>
      <button ref={way} type="button" class="small" onClick={() => void client.signOut()}>
        Sign out
      </button>
    </>
  );
}
