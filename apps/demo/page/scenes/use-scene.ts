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
  /** Grows when a scene begins, and when the page leaves it: the requests are counted anew. */
  readonly runs: number;
  readonly start: (name: SceneName) => void;
  /** Ends the scene; the demo restores everything. */
  readonly stop: () => void;
}

/** Runs scenes, and ends the one that runs when the page leaves it. */
export function useScene(): SceneRun {
  const [state, setState] = useState<SceneState>();
  const [runs, setRuns] = useState(0);
  const abort = useRef<AbortController>(undefined);

  const start = (name: SceneName): void => {
    const controller = new AbortController();
    abort.current?.abort();
    abort.current = controller;
    setRuns((before) => before + 1);
    setState({ name, step: -1, isOver: false });
    const update = (change: Partial<SceneState>): void => {
      if (!controller.signal.aborted) setState((before) => before && { ...before, ...change });
    };
    runScene(name, controller.signal, (line) => update(changeOf(line))).catch((error: unknown) =>
      update({ isOver: true, error: messageOf(error) }),
    );
  };
  const stop = (): void => {
    abort.current?.abort();
    setRuns((before) => before + 1);
    setState(undefined);
  };
  return { state, runs, start, stop };
}

function changeOf(line: SceneLine): Partial<SceneState> {
  if ('step' in line) return { step: line.step };
  return { isOver: true, ...line };
}
