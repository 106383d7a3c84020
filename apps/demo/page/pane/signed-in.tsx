import { type VNode } from 'preact';
import { type ConsoleInfo } from '../../src/console/messages.js';
import { type Client } from '../backend/use-client.js';
import { useLostFocus } from './use-lost-focus.js';

/** Renders the signed-in user, with a button to sign out. */
export function SignedIn({ client, users }: { readonly client: Client; readonly users: ConsoleInfo['users'] | undefined }): VNode {
  const button = useLostFocus();
  const about = users?.find(({ username }) => username === client.username)?.about;
  return (
    <>
      <p class="who in">
        <strong>{client.username}</strong> {about}
      </p>
      <button ref={button} type="button" class="small" onClick={() => void client.signOut()}>
        Sign out
      </button>
    </>
  );
}
