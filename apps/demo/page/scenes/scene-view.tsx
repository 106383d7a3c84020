import { type VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { SCENES } from '../../src/console/messages.js';
import { SCRIPTS } from './scripts.js';
import { type SceneRun, type SceneState } from './use-scene.js';

/** Renders the scene that runs: its steps, and the figure that it ends in. */
export function SceneView({ run, state }: { readonly run: SceneRun; readonly state: SceneState }): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    showWithLane(heading.current);
  }, [run.runs]);
  return (
    <section class="scene" aria-labelledby="scene">
      <div class="story">
        <h2 id="scene" ref={heading} tabIndex={-1}>
          {SCRIPTS[state.name].title}
        </h2>
        <Steps state={state} />
      </div>
      <div class="ending">
        <div aria-live="polite">
          <Ending state={state} />
        </div>
        <Actions run={run} state={state} />
      </div>
    </section>
  );
}

function Steps({ state }: { readonly state: SceneState }): VNode {
  return (
    <ol class="steps">
      {SCRIPTS[state.name].steps.map((text, step) => (
        <li
          key={text}
          data-state={stepState(state, step)}
          aria-current={stepState(state, step) === 'now' ? 'step' : undefined}
        >
          {text}
        </li>
      ))}
    </ol>
  );
}

/** Scrolls to the lane, unless it and the scene below it are in view. */
function showWithLane(heading: HTMLElement | null): void {
  const lane = document.querySelector('.lane');
  const scene = heading?.closest('.scene');
  if (!lane || !scene) return;
  const isInView =
    lane.getBoundingClientRect().top >= 0 && scene.getBoundingClientRect().bottom <= innerHeight;
  if (!isInView) lane.scrollIntoView({ block: 'start' });
}

function stepState({ step, isOver, error }: SceneState, of: number): 'done' | 'now' | 'next' {
  if (of < step || (isOver && error === undefined)) return 'done';
  return of === step && !isOver ? 'now' : 'next';
}

function Ending({ state: { name, result, error, isOver } }: { readonly state: SceneState }): VNode {
  if (error !== undefined) return <p class="failure">{error} Everything is restored.</p>;
  if (!isOver || !result) return <p class="pending">Running on this demo, with real requests…</p>;
  const { figure, caption, detail } = SCRIPTS[name].end(result);
  return (
    <>
      <p class="big">
        <strong>{figure}</strong> <span>{caption}</span>
      </p>
      <p class="detail">{detail}</p>
    </>
  );
}

function Actions({ run, state }: { readonly run: SceneRun; readonly state: SceneState }): VNode {
  const next = SCENES[(SCENES.indexOf(state.name) + 1) % SCENES.length] ?? 'stampede';
  if (!state.isOver)
    return (
      <p class="actions">
        <button type="button" onClick={run.stop}>
          Stop
        </button>
      </p>
    );
  return (
    <p class="actions">
      <button type="button" class="primary" onClick={() => run.start(next)}>
        Next: {SCRIPTS[next].title}
      </button>
      <button type="button" onClick={() => run.start(state.name)}>
        Run again
      </button>
      <button type="button" onClick={run.stop}>
        All scenes
      </button>
    </p>
  );
}
