import { type VNode } from 'preact';
import { type ConsoleInfo, type RouteSources } from '../../src/console/messages.js';
import { type Client } from '../backend/use-client.js';
import { LastExchange } from './last-exchange.js';
import { type PaneName } from './pane-name.js';
import { RouteList } from './route-list.js';
import { SignIn } from './sign-in.js';
import { SignedIn } from './signed-in.js';

interface PaneProps {
  readonly name: PaneName;
  readonly client: Client;
  readonly users: ConsoleInfo['users'] | undefined;
  readonly sources: RouteSources | undefined;
}

/** Renders one user: the session, the routes to try, and the last exchange. */
export function Pane({ name, client, users, sources }: PaneProps): VNode {
  const signedIn = client.username !== undefined;
  return (
    <section class="pane" aria-labelledby={`user-${name}`}>
      <div class="pane-head">
        <h2 id={`user-${name}`}>User {name}</h2>
        {signedIn ? <SignedIn client={client} users={users} /> : <p class="who">not signed in</p>}
      </div>
      {signedIn ? <Record name={name} record={client.record} /> : <SignIn name={name} client={client} users={users} />}
      <h3>Routes</h3>
      <RouteList client={client} />
      <LastExchange pane={name} exchange={client.last} sources={sources} />
    </section>
  );
}

function Record({ name, record }: { readonly name: string; readonly record: string | undefined }): VNode {
  return (
    <details class="record">
      <summary>User record, as a handler receives it</summary>
      <pre tabIndex={0} role="region" aria-label={`Record of user ${name}`}>
        {record ?? 'No reply from GET /api/me yet.'}
      </pre>
    </details>
  );
}
