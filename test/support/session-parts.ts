import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { ExecutionContext } from '@nestjs/common';
import { Subject } from 'rxjs';
import { Deadlines } from '../../libs/session-auth/src/client/deadline.js';
import type { UserRecord } from '../../libs/session-auth/src/contract/record/user-record.js';
import type { GuardRegistration } from '../../libs/session-auth/src/guard/guard-registration.js';
import { ADMISSION, type Admission } from '../../libs/session-auth/src/guard/guarded-request.js';
import {
  fromHeader,
  SessionReader,
  type TokenSource,
} from '../../libs/session-auth/src/guard/token-source.js';
import type { GuardedCall, WatchRegistration } from '../../libs/session-auth/src/guard/transport.js';
import { EventSource } from '../../libs/session-auth/src/module/events/event-source.js';
import { Lanes, type CallService } from '../../libs/session-auth/src/verifier/lanes.js';
import { SessionCache, type CacheSettings } from '../../libs/session-auth/src/verifier/session-cache.js';
import { SessionVerifier } from '../../libs/session-auth/src/verifier/session-verifier.js';

const LIMITS = { timeoutMs: 60_000, maxAttempts: 1, maxInFlight: 10, maxQueued: 10 };
const LIFETIMES = { ttlMs: 60_000, negativeTtlMs: 60_000, refreshAheadMs: 0, staleIfErrorMs: 600_000 };
const CACHE = { ...LIFETIMES, maxEntries: 10 };

interface Setup extends Partial<Omit<GuardRegistration, 'ends'>> {
  /** Without it, nothing is cached. */
  readonly cache?: Partial<CacheSettings>;
  readonly sources?: readonly TokenSource[];
}

/** The parts of a registration whose service is a function. */
export function partsWith(
  callService: CallService<UserRecord>,
  { cache, sources = [fromHeader('x-auth-token')], ...more }: Setup = {},
): GuardRegistration & { readonly ends: EventSource } {
  const parts = {
    verifier: new SessionVerifier(
      new Lanes(callService, new Deadlines(), LIMITS),
      cache ? { cache: new SessionCache<UserRecord>({ ...CACHE, ...cache }) } : {},
    ),
    reader: new SessionReader({ sources, forwardAuthIv: false, maxTokenLength: 100 }),
    ends: new EventSource(),
    whileOpen: { recheckMs: 60_000, outageGraceMs: 1 },
    ...more,
  };
  return parts as unknown as GuardRegistration & { readonly ends: EventSource };
}

export function admissionOf(more: Partial<Admission> = {}): Admission {
  return {
    verifier: { revoker: { count: 0 } },
    revocations: 0,
    context: {} as ExecutionContext,
    user: undefined,
    session: undefined,
    ...more,
  };
}

export function receivedRequest(headers: Record<string, string> = {}): IncomingMessage {
  const rawHeaders = Object.entries(headers).flat();
  return Object.assign(new IncomingMessage(new Socket()), { headers, rawHeaders });
}

interface OpenCall {
  readonly call: GuardedCall;
  readonly admission: Admission;
  readonly registration: WatchRegistration;
  readonly end: () => void;
}

/** An admitted call that has something open, and the end of its session. */
export function openCall(): OpenCall {
  const ended = new Subject<string>();
  const session = { token: 'token', authIv: undefined };
  const context = { getHandler: () => () => undefined, getClass: () => Subject };
  const admission = admissionOf({ context: context as never, user: { username: 'ann' }, session });
  const parts = {
    verifier: {
      check: (_session: object, _maxAgeMs: number, earlier: object) => earlier,
      revoker: { onRefusal: () => undefined },
    },
    // No check falls due while the process of the tests lives.
    whileOpen: { recheckMs: 86_400_000, outageGraceMs: 0 },
    ends: {
      ended,
      evicted: new Subject(),
      forgottenUsers: new Subject(),
      fingerprintOf: () => 'fingerprint',
    },
  };
  const request = { [ADMISSION]: admission };
  return {
    call: { request, transport: {} } as unknown as GuardedCall,
    admission,
    registration: parts as unknown as WatchRegistration,
    end: (): void => ended.next('fingerprint'),
  };
}
