import { type VNode } from 'preact';
import { type ConsoleInfo, type RouteSources } from '../src/console/messages.js';
import { useClient } from './backend/use-client.js';
import { useJson } from './backend/use-json.js';
import { useLoad } from './controls/use-load.js';
import { Experiments } from './experiments/experiments.js';
import { Panel } from './guard/panel.js';
import { Header } from './header.js';
import { Pane } from './pane/pane.js';

/** Renders the two users on the left, and the live view of the guard with the controls on the right. */
export function App(): VNode {
  const info = useJson('/console/info') as ConsoleInfo | undefined;
  const sources = useJson('/sources.json') as RouteSources | undefined;
  const a = useClient();
  const b = useClient();
  const run = useLoad();
  const users = info?.users;
  const user = users?.[0];
  return (
    <>
      <Header platform={info?.platform} />
      <main>
        <div class="visitor">
          {info?.controls && user && <Experiments scene={{ client: a, user, run }} />}
          <div class="panes">
            <Pane name="A" client={a} users={users} sources={sources} />
            <Pane name="B" client={b} users={users} sources={sources} />
          </div>
        </div>
        <Panel controls={info?.controls ?? false} run={run} tokens={{ A: a.token, B: b.token }} />
      </main>
    </>
  );
}
