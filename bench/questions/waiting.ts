import assert from 'node:assert/strict';
import type { Visits, WaitingApi, Waits } from '../processes/waiting.worker.js';
import type { Worker } from '../processes/worker.js';
import type { Finding, Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import { atMost, type Target } from '../target.js';
import type { VariantName } from '../variants/variants.js';

const TTLS_MS = [2_000, 5_000];
const LATENCY_MS = 20;
const VISITS = { sessions: 1_000, requestsPerSecond: 250, durationMs: 6_000 };

interface Way {
  readonly variant: VariantName;
  readonly name: string;
  readonly refreshAheadPart: number;
  readonly target?: Target;
}

const WAYS: readonly Way[] = [
  { variant: 'handWritten', name: 'hand-written guard with a Map', refreshAheadPart: 0 },
  { variant: 'ours', name: 'nestjs-session-auth', refreshAheadPart: 0 },
  {
    variant: 'ours',
    name: 'nestjs-session-auth, refresh-ahead on',
    refreshAheadPart: 0.8,
    target: atMost(0),
  },
];

/** Measures how many requests wait for the session service. */
export const waiting: Question = {
  name: 'waiting',
  title: 'Requests that wait for the service, of 1,000 (cache on)',
  ask: async (stage) => {
    const service = await stage.service({ latencyMs: LATENCY_MS });
    const worker = stage.worker<WaitingApi>('waiting');
    const places: Place[] = [];
    for (const way of WAYS)
      for (const ttlMs of TTLS_MS) places.push(await open(worker, service.url, way, ttlMs));
    const waits = await Promise.all(places.map(({ visits }) => worker.call('visit', visits)));
    const calls = await service.worker.call('takeCalls');
    const findings = places.flatMap((place, index) =>
      findingsOf(place, waits[index], calls[place.visits.kind]),
    );
    const notes = [
      `${VISITS.sessions} sessions drawn by Zipf's law, ${VISITS.requestsPerSecond} requests per second, the service takes ${LATENCY_MS} ms. The refresh begins when a fifth of the lifetime has passed.`,
      'An active session is one whose last request was answered at most half a lifetime ago.',
    ];
    return { findings, notes };
  },
};

interface Place extends Way {
  readonly ttlMs: number;
  readonly visits: Visits;
}

async function open(worker: Worker<WaitingApi>, serviceUrl: string, way: Way, ttlMs: number): Promise<Place> {
  const { variant, refreshAheadPart } = way;
  const cache = { ttlMs, ...(refreshAheadPart > 0 && { refreshAheadMs: ttlMs * refreshAheadPart }) };
  const place = await worker.call('open', { variant, serviceUrl, cache });
  return {
    ...way,
    ttlMs,
    visits: { ...VISITS, place, kind: `user${place}`, warmUpMs: ttlMs, activeMs: ttlMs / 2 },
  };
}

function findingsOf({ name, ttlMs, target }: Place, waits: Waits | undefined, calls = 0): Finding[] {
  assert.ok(waits && waits.activeRequests > 0 && calls > 0, `${name} was visited`);
  const subject = `${name}, ttlMs ${ttlMs}`;
  const ofThousand = (waited: number, requests: number) => estimateOf([(waited / requests) * 1_000]);
  const active = ofThousand(waits.activeWaited, waits.activeRequests);
  return [
    {
      subject: `${subject}: of active sessions`,
      unit: 'of 1,000',
      value: active,
      calls: `${calls}`,
      ...(target && { target }),
    },
    {
      subject: `${subject}: of all sessions`,
      unit: 'of 1,000',
      value: ofThousand(waits.waited, waits.requests),
    },
  ];
}
