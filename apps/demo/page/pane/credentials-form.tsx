import { type VNode } from 'preact';
import { type Client } from '../backend/use-client.js';

/** Signs in with the username and the password that the visitor enters. */
export function CredentialsForm({ name, client }: { readonly name: string; readonly client: Client }): VNode {
  const signIn = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = new FormData(form);
    void client.signIn(text(fields, 'username'), text(fields, 'password'));
    // The username stays, for another attempt after a mistyped password.
    form.querySelectorAll<HTMLInputElement>('[type=password]').forEach((password) => (password.value = ''));
  };
  return (
    <form class="credentials" onSubmit={signIn}>
      <label for={`username-${name}`}>Username</label>
      <input id={`username-${name}`} name="username" required autoComplete="off" autoCapitalize="none" spellcheck={false} />
      <label for={`password-${name}`}>Password</label>
      <input id={`password-${name}`} name="password" type="password" required autoComplete="off" />
      <button class="primary">Sign in</button>
    </form>
  );
}

function text(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : '';
}
