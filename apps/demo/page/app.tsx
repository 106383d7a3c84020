import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ConsoleInfo } from '../src/console/messages.js';
import { useJson } from './backend/use-json.js';
import { useLive } from './console/use-live.js';
import { useTrickle } from './console/use-trickle.js';
import { Drawer } from './drawer/drawer.js';
import { Header } from './header.js';
import { Install } from './install.js';
import { Lane } from './lane/lane.js';
import { SceneCards } from './scenes/scene-cards.js';
import { SceneView } from './scenes/scene-view.js';
import { useScene } from './scenes/use-scene.js';

/** Renders one sentence, the way of a request, and the scenes; free play is in a drawer. */
export function App(): VNode {
  const info = useJson('/console/info') as ConsoleInfo | undefined;
  const live = useLive();
  const run = useScene();
  const [isOpen, setOpen] = useState(false);
  const isPlaying = isOpen || info?.controls === false;
  const isIdle =
    info?.controls === true && !isOpen && run.state === undefined && live.report?.scene === undefined;
  const trickle = useTrickle(isIdle);
  return (
    <>
      <Header
        platform={info?.platform}
        isOpen={isPlaying}
        toggle={info?.controls ? () => setOpen(!isOpen) : undefined}
      />
      <main data-playing={isPlaying} data-running={run.state !== undefined}>
        <div class="stage">
          <Opening />
          <Lane live={live} since={run.since} trickle={isIdle ? trickle : undefined} />
          {info?.controls &&
            (run.state ? <SceneView run={run} state={run.state} /> : <SceneCards start={run.start} />)}
        </div>
        {info && isPlaying && <Drawer info={info} report={live.report} />}
      </main>
    </>
  );
}

function Opening(): VNode {
  return (
    <div class="opening">
      <p class="sentence">
        Every request is checked. <span>The session service is asked as rarely as is safe.</span>
      </p>
      <Install />
    </div>
  );
}
