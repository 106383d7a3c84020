import { type VNode } from 'preact';
import { type ConsoleInfo, type LiveReport, type RouteSources } from '../../src/console/messages.js';
import { useJson } from '../backend/use-json.js';
import { useCaller } from '../backend/use-caller.js';
import { CallerChoice } from './caller-choice.js';
import { LastReply } from './last-reply.js';
import { LoadControl } from './load.js';
import { OpenStream } from './open-stream.js';
import { RouteList } from './route-list.js';
import { SessionCache } from './session-cache.js';
import { SessionService } from './session-service.js';

interface DrawerProps {
  readonly info: ConsoleInfo;
  readonly report: LiveReport | undefined;
}

/** Renders free play: a caller, the last reply, a stream, the routes, and the settings of the demo. */
export function Drawer({ info, report }: DrawerProps): VNode {
  const sources = useJson('/sources.json') as RouteSources | undefined;
  const caller = useCaller();
  return (
    <aside class="drawer" id="free-play" aria-labelledby="free-play-title">
      <h2 id="free-play-title">Free play</h2>
      <CallerChoice caller={caller} users={info.users} />
      <LastReply exchange={caller.last} sources={sources} />
      <OpenStream token={caller.token} />
      <RouteList caller={caller} />
      {info.controls && report?.fault !== undefined && <SessionService fault={report.fault} />}
      {info.controls && report && <SessionCache cache={report.cache} />}
      {info.controls && <LoadControl token={caller.token} />}
    </aside>
  );
}
