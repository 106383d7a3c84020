import { type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Route, ROUTES, type RouteParameter, routeKey } from '../backend/routes.js';
import { type Client } from '../backend/use-client.js';
import { StatusChip } from './status-chip.js';

/** Renders each route: a button, the users who may call it, and the last reply. */
export function RouteList({ client }: { readonly client: Client }): VNode {
  return (
    <ul class="routes">
      {ROUTES.map((route) => (
        <RouteRow key={routeKey(route)} route={route} client={client} />
      ))}
    </ul>
  );
}

function RouteRow({ route, client }: { readonly route: Route; readonly client: Client }): VNode {
  const { parameter } = route;
  const [value, setValue] = useState(parameter?.values[0] ?? '');
  const path = parameter ? route.path.replace(parameter.name, value) : route.path;
  return (
    <li>
      <button type="button" class="route" onClick={() => void client.tryRoute(route, path)}>
        <code>
          <span class="method">{route.method}</span> {route.path}
        </code>
      </button>
      {parameter && <ParameterChoice parameter={parameter} value={value} choose={setValue} />}
      <Reply client={client} route={routeKey(route)} />
      <small>{route.admits}</small>
    </li>
  );
}

function Reply({ client, route }: { readonly client: Client; readonly route: string }): VNode | null {
  const reply = client.tried[route];
  if (client.waiting === route) return <StatusChip status={1} text="waiting…" />;
  return reply ? <StatusChip status={reply.status} text={reply.statusText} /> : null;
}

interface ParameterChoiceProps {
  readonly parameter: RouteParameter;
  readonly value: string;
  readonly choose: (value: string) => void;
}

function ParameterChoice({ parameter, value, choose }: ParameterChoiceProps): VNode {
  return (
    <select aria-label={parameter.label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      {parameter.values.map((each) => (
        <option key={each}>{each}</option>
      ))}
    </select>
  );
}
