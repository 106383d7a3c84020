import { useRef, useState } from 'preact/hooks';
import { type SceneLine, type SceneName, type SceneResult } from '../../src/console/messages.js';
import { messageOf, runScene } from '../console/console-api.js';

/** The scene that the page shows. */
export interface SceneState {
  readonly name: SceneName;
  /** The step that runs; -1 before the first. */
  readonly step: number;
  readonly isOver: boolean;
  readonly result?: SceneResult;
  readonly error?: string;
}

/** The scene, with its actions. */
export interface SceneRun {
  readonly state: SceneState | undefined;
  /** The number of scenes so far. */
  readonly runs: number;
  /** Changes when the counts are reset: when nothing else runs, and when the page leaves the scene. */
  readonly since: number;
  readonly start: (name: SceneName) => void;
  /** Ends the scene; the demo restores everything. */
  readonly stop: () => void;
}

/** Runs scenes, and ends the one that runs when the page leaves it. */
export function useScene(): SceneRun {
  const [state, setState] = useState<SceneState>();
  const [runs, setRuns] = useState(0);
  const [since, setSince] = useState(0);
  const abort = useRef<AbortController>(undefined);

  const start = (name: SceneName): void => {
    const { signal } = renewed(abort);
    setRuns(runs + 1);
    setState({ name, step: -1, isOver: false });
    const update = (change: Partial<SceneState>): void => {
      if (signal.aborted) return;
      if (change.step === -1) setSince((before) => before + 1);
      setState((before) => before && { ...before, ...change });
    };
    runScene(name, signal, (line) => update(changeOf(line))).catch((error: unknown) =>
      update({ isOver: true, error: messageOf(error) }),
    );
  };
  const stop = (): void => {
    abort.current?.abort();
    setSince((before) => before + 1);
    setState(undefined);
  };
  return { state, runs, since, start, stop };
}

/** Aborts the previous run. Returns the controller of the next. */
function renewed(abort: { current: AbortController | undefined }): AbortController {
  abort.current?.abort();
  abort.current = new AbortController();
  return abort.current;
}

function changeOf(line: SceneLine): Partial<SceneState> {
  if ('step' in line) return { step: line.step };
  return { isOver: true, ...line };
}
