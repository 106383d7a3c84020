import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Route, ROUTES, type RouteParameter, routeKey } from '../backend/routes.js';
import { type Caller } from '../backend/use-caller.js';
import { StatusChip } from './status-chip.js';

/** Renders each route: a button, the users who may call it, and the last reply. */
export function RouteList({ caller }: { readonly caller: Caller }): VNode {
  return (
    <section class="control" aria-labelledby="routes">
      <h3 id="routes">Routes</h3>
      <ul class="routes">
        {ROUTES.map((route) => (
          <RouteRow key={routeKey(route)} route={route} caller={caller} />
        ))}
      </ul>
    </section>
  );
}

function RouteRow({ route, caller }: { readonly route: Route; readonly caller: Caller }): VNode {
  const { parameter } = route;
  const [value, setValue] = useState(parameter?.values[0] ?? '');
  const path = parameter ? route.path.replace(parameter.name, value) : route.path;
  return (
    <li>
      <button type="button" class="route" onClick={() => void caller.tryRoute(route, path)}>
        <code>
          <span class="method">{route.method}</span> {route.path}
        </code>
      </button>
      {parameter && <ParameterChoice parameter={parameter} value={value} choose={setValue} />}
      <Reply caller={caller} route={routeKey(route)} />
      <small>{route.admits}</small>
    </li>
  );
}

function Reply({ caller, route }: { readonly caller: Caller; readonly route: string }): VNode | null {
  const reply = caller.tried[route];
  if (caller.waiting === route) return <StatusChip status={1} text="waiting…" />;
  return reply ? <StatusChip status={reply.status} text={reply.statusText} /> : null;
}

interface ParameterChoiceProps {
  readonly parameter: RouteParameter;
  readonly value: string;
  readonly choose: (value: string) => void;
}

function ParameterChoice({ parameter, value, choose }: ParameterChoiceProps): VNode {
  return (
    <select
      aria-label={parameter.label}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {parameter.values.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}
