import { actionsOf, type Scope } from './actions.js';
import { copyOf, Fingerprints } from './fingerprints.js';
import { Machine } from './machine.js';
import { firstState, type Budget, type Settings, type State } from './state.js';

/** Result of a search. */
export interface Searched {
  readonly states: number;
  readonly transitions: number;
  /** Longest of the shortest paths to a state. */
  readonly depth: number;
  /** Actions that lead to a violation, the shortest such path; the violation is last. */
  readonly counterexample: readonly string[] | undefined;
  /** Whether every reachable state was visited. */
  readonly isComplete: boolean;
}

export interface Search {
  readonly name: string;
  readonly settings: Settings;
  readonly scope: Scope;
  readonly budget: Budget;
}

interface Reached {
  readonly state: State;
  readonly path: Path | undefined;
}

/** The numbers of the actions that lead to a state, among those possible in each state before it. */
interface Path {
  readonly action: number;
  readonly before: Path | undefined;
}

/** Visits every state that can be reached, the nearest first, until a promise is broken. */
export function search({ settings, scope, budget }: Search): Searched {
  const machine = new Machine(settings, scope.bug);
  const first = firstState(settings, budget);
  const known = new Fingerprints();
  known.add(first);
  let [level, depth, transitions]: [Reached[], number, number] = [[{ state: first, path: undefined }], 0, 0];
  const result = (counterexample?: readonly string[], isComplete = false): Searched => ({
    states: known.size,
    transitions,
    depth,
    counterexample,
    isComplete,
  });
  const namesOf = (path: Path): string[] => {
    let state = first;
    return actionsIn(path).map((number) => {
      const action = actionsOf(machine, scope, state)[number];
      state = copyOf(state);
      action?.apply(state);
      return action?.name() ?? '';
    });
  };
  while (level.length > 0) {
    const next: Reached[] = [];
    for (const { state, path: before } of level) {
      for (const [action, { apply, host }] of actionsOf(machine, scope, state).entries()) {
        transitions += 1;
        const copy = copyOf(state, host);
        apply(copy);
        machine.judgeDelivery(copy);
        if (copy.violation !== undefined) return result([...namesOf({ action, before }), copy.violation]);
        if (known.add(copy)) next.push({ state: copy, path: { action, before } });
      }
    }
    level = next;
    if (next.length > 0) depth += 1;
  }
  return result(undefined, true);
}

function actionsIn(path: Path): number[] {
  const actions: number[] = [];
  for (let step: Path | undefined = path; step; step = step.before) actions.unshift(step.action);
  return actions;
}
