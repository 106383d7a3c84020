import { type VNode } from 'preact';
import { type ConsoleInfo } from '../../src/console/messages.js';
import { type Client } from '../backend/use-client.js';
import { CredentialsForm } from './credentials-form.js';
import { OldToken } from './old-token.js';
import { type PaneName } from './pane-name.js';

type Users = ConsoleInfo['users'];

interface SignInProps {
  readonly name: PaneName;
  readonly client: Client;
  readonly users: Users | undefined;
}

/** Renders a button for each user of the demo, and a form for other credentials. */
export function SignIn({ name, client, users }: SignInProps): VNode {
  // The two panes suggest users with different rights.
  const suggested = users?.[name === 'A' ? 0 : Math.min(2, users.length - 1)];
  return (
    <div class="sign-in">
      {client.endedToken !== undefined && <OldToken client={client} token={client.endedToken} />}
      {users && users.length > 0 && (
        <ul class="users">
          {users.map((user) => (
            <li key={user.username}>
              <SignInAs user={user} suggested={user === suggested} client={client} />
            </li>
          ))}
        </ul>
      )}
      <details class="own" open={users?.length === 0}>
        <summary>Own credentials</summary>
        <CredentialsForm name={name} client={client} />
      </details>
    </div>
  );
}

interface SignInAsProps {
  readonly user: Users[number];
  readonly suggested: boolean;
  readonly client: Client;
}

function SignInAs({ user, suggested, client }: SignInAsProps): VNode {
  return (
    <button type="button" class={suggested ? 'primary' : ''} onClick={() => void client.signIn(user.username, user.password)}>
      <span>
        Sign in as <strong>{user.username}</strong>
      </span>{' '}
      <small>{user.about}</small>
    </button>
  );
}
