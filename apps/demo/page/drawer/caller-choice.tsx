import { type VNode } from 'preact';
import { type ConsoleInfo } from '../../src/console/messages.js';
import { ME } from '../backend/routes.js';
import { type Caller } from '../backend/use-caller.js';
import { CredentialsForm } from './credentials-form.js';
import { Segmented } from './segmented.js';

const NO_SESSION = '';

interface CallerChoiceProps {
  readonly caller: Caller;
  readonly users: ConsoleInfo['users'];
}

/** Renders who sends the requests: without a session, or as a user, who is signed in when chosen. */
export function CallerChoice({ caller, users }: CallerChoiceProps): VNode {
  const { username = NO_SESSION, signingIn, tokens } = caller;
  const names = [...new Set([...users.map((user) => user.username), ...Object.keys(tokens)])];
  const options = [
    { value: NO_SESSION, label: 'No session' },
    ...names.map((value) => ({ value, label: value })),
  ];
  const choose = (name: string): void => {
    const password = users.find((user) => user.username === name)?.password;
    void (name === NO_SESSION ? caller.sendAs() : caller.sendAs(name, password));
  };
  return (
    <section class="control" aria-labelledby="caller">
      <h3 id="caller">Send as</h3>
      <Segmented
        name="caller"
        legend="Send as"
        options={options}
        value={signingIn ?? username}
        choose={choose}
      />
      <Session caller={caller} about={users.find((user) => user.username === username)?.about} />
      <details open={users.length === 0}>
        <summary>Own credentials</summary>
        <CredentialsForm caller={caller} />
      </details>
    </section>
  );
}

/** Renders the session of the caller, with its end, or the token of the session that has ended. */
function Session({ caller, about }: { readonly caller: Caller; readonly about: string | undefined }): VNode {
  const { username, endedToken } = caller;
  if (username !== undefined)
    return (
      <p class="hint">
        {`Signed in as ${username}${about === undefined ? '' : `: ${about}`}.`}{' '}
        <button type="button" class="link" onClick={() => void caller.signOut()}>
          Sign out
        </button>
      </p>
    );
  return (
    <p class="hint">
      Requests carry no token.{' '}
      {endedToken !== undefined && (
        <button type="button" class="link" onClick={() => void caller.tryRoute(ME, ME.path, endedToken)}>
          Try the old token again
        </button>
      )}
    </p>
  );
}
