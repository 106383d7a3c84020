import { type VNode } from 'preact';
import { type LiveReport } from '../../src/console/messages.js';
import { type Fault } from '../../src/session-service/fault.js';
import { count, counted } from '../text.js';
import { admitted, type Counts } from './counts.js';
import { Guard } from './guard.js';
import { type Geometry, type Point } from './geometry.js';

const HEALTH: Readonly<Record<Fault, string>> = {
  none: 'healthy',
  slow: 'slow',
  broken: 'answers 500',
  garbage: 'answers garbage',
  stopped: 'stopped',
};

const DESCRIPTION =
  'Users, the guard with its cache, lanes and breakers, the session service, and your routes';

interface StationsProps {
  readonly at: Geometry;
  readonly report: LiveReport | undefined;
  readonly counts: Counts;
}

/**
 * Draws the static parts: users, the guard with its cache, lanes and breakers, the session service, and the
 * routes.
 */
export function Stations({ at, report, counts }: StationsProps): VNode {
  return (
    <svg
      class="stations"
      data-wide={at.isWide}
      width={at.width}
      height={at.height}
      role="img"
      aria-label={DESCRIPTION}
    >
      <Ways at={at} />
      <Guard at={at} report={report} />
      <Users at={at} requests={counts.requests} />
      <Service at={at} calls={counts.calls} fault={report?.fault} />
      <Routes at={at} admitted={admitted(counts)} />
    </svg>
  );
}

function Users({
  at: { users, isWide },
  requests,
}: {
  readonly at: Geometry;
  readonly requests: number;
}): VNode {
  const { x, y } = users;
  return (
    <g class="end">
      <circle cx={x} cy={y - 4} r="22" />
      <path
        d={`M${x - 10} ${y + 7}a10 9 0 0 1 20 0M${x - 5.5} ${y - 10}a5.5 5.5 0 1 1 11 0a5.5 5.5 0 1 1 -11 0`}
      />
      <Caption
        at={isWide ? users : { x: 6, y }}
        end="users"
        name="Users"
        value={counted(requests, 'request')}
        isWide={isWide}
      />
    </g>
  );
}

interface ServiceProps {
  readonly at: Geometry;
  readonly calls: number;
  readonly fault: Fault | undefined;
}

function Service({ at: { service, isWide, width }, calls, fault = 'none' }: ServiceProps): VNode {
  const { x, y } = service;
  const name = isWide ? 'Session service' : 'Service';
  return (
    <g class="end service" data-fault={fault}>
      <rect x={x - 22} y={y - 30} width="44" height="52" rx="10" />
      <path d={`M${x - 11} ${y - 17}h22m-22 13h22m-22 13h22`} />
      <Caption
        at={isWide ? service : { x: width - 6, y }}
        end="service"
        name={name}
        value={counted(calls, 'call')}
        isWide={isWide}
      />
      {fault !== 'none' && (
        <text class="fault" x={isWide ? x : width - 6} y={y - 46}>
          {HEALTH[fault]}
        </text>
      )}
    </g>
  );
}

function Routes({
  at: { routes, isWide },
  admitted: number,
}: {
  readonly at: Geometry;
  readonly admitted: number;
}): VNode {
  const { left, right, y } = routes;
  return (
    <g class="routes">
      <rect x={left} y={y - 10} width={right - left} height="40" rx="12" />
      <text x={left + 16} y={y + 15}>
        {isWide ? 'Your routes' : 'Routes'}
      </text>
      <text class="figure" x={right - 16} y={y + 15}>
        {count(number)} admitted
      </text>
    </g>
  );
}

interface CaptionProps {
  readonly at: Point;
  readonly end: 'users' | 'service';
  readonly name: string;
  readonly value: string;
  readonly isWide: boolean;
}

/** The name of an end of the way, and its count; in two lines where there is little room. */
function Caption({ at: { x, y }, end, name, value, isWide }: CaptionProps): VNode {
  const [number = '', noun = ''] = value.split(' ');
  return (
    <g class="caption" data-end={end}>
      <text class="name" x={x} y={y + 46}>
        {name}
      </text>
      <text class="figure" x={x} y={y + 68}>
        {isWide ? value : number}
      </text>
      {!isWide && (
        <text x={x} y={y + 86}>
          {noun}
        </text>
      )}
    </g>
  );
}

function Ways({ at: { users, guard, service, lanes, breaker, cache } }: { readonly at: Geometry }): VNode {
  const { known, strangers } = lanes;
  const bend = (service.x - guard.right) / 2;
  const toService = (y: number): string =>
    `M${breaker + 18} ${y}H${guard.right}C${guard.right + bend} ${y} ${guard.right + bend} ${service.y} ${service.x - 24} ${service.y}`;
  const fromCache = (y: number): string =>
    `M${cache.x + 22} ${cache.y}C${cache.x + 48} ${cache.y} ${cache.x + 30} ${y} ${cache.x + 62} ${y}H${breaker - 18}`;
  return (
    <g class="ways">
      <path d={`M${users.x + 24} ${users.y}H${cache.x - 22}`} />
      <path d={fromCache(known)} />
      <path d={fromCache(strangers)} />
      <path d={toService(known)} />
      <path d={toService(strangers)} />
    </g>
  );
}
