import { type VNode } from 'preact';
import { type Caller } from '../backend/use-caller.js';

/** Renders a form to sign in with a username and a password. The password is never kept. */
export function CredentialsForm({ caller }: { readonly caller: Caller }): VNode {
  const signIn = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = new FormData(form);
    void caller.sendAs(text(fields, 'username'), text(fields, 'password'));
    // The username stays, for another attempt after a mistyped password.
    form.querySelectorAll<HTMLInputElement>('[type=password]').forEach((password) => (password.value = ''));
  };
  return (
    <form class="credentials" onSubmit={signIn}>
      <label for="username">Username</label>
      <input
        id="username"
        name="username"
        required
        autoComplete="off"
        autoCapitalize="none"
        spellcheck={false}
      />
      <label for="password">Password</label>
      <input id="password" name="password" type="password" required autoComplete="off" />
      <button type="submit">Sign in</button>
    </form>
  );
}

function text(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : '';
}
