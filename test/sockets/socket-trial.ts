import { afterEach, beforeEach } from '@jest/globals';
import type { LoggerService, Provider } from '@nestjs/common';
import type { SessionAuthExtras, SessionAuthOptions } from 'nestjs-session-auth';
import { sessionSockets, SessionSockets, type SocketCounts } from 'nestjs-session-auth/sockets';
import { SOCKET_LIBRARIES, SOCKET_IO } from './peers.js';
import type { RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { Feed, FeedGateway } from './feed.gateway.js';
import { attemptSocketIo, attemptWs, type Attempt, type Attempting } from './socket-attempts.js';

const BROADCAST_EVERY_MS = 2;

export const LIBRARIES = SOCKET_LIBRARIES.map((library) => [library[0], library] as const);

/**
 * The fixture of a row about sockets: created for each row, and closed after it. Broadcasts are sent
 * throughout.
 */
interface SocketTrial {
  readonly service: ScriptedService;
  readonly feed: Feed;
  readonly url: string;
  start(
    options?: Partial<SessionAuthOptions & SessionAuthExtras>,
    gateways?: Provider[],
    logger?: LoggerService,
  ): Promise<RunningApp>;
  attempt(
    token?: string,
    ...options: Parameters<Attempting> extends [unknown, unknown, ...infer Rest] ? Rest : never
  ): Promise<Attempt>;
  /** Opens a socket in a namespace of socket.io. */
  attemptIn(namespace: string, token?: string): Promise<Attempt>;
  counts(): SocketCounts;
  /** Waits until no socket is watched and no handshake waits. */
  empty(): Promise<void>;
}

/** Call it inside `describe`. */
export function socketTrial(library: (typeof SOCKET_LIBRARIES)[number]): SocketTrial {
  const bed = testbed();
  const [, adapter] = library;
  const attempting = library === SOCKET_IO ? attemptSocketIo : attemptWs;
  const attempts: Attempt[] = [];
  let [service, feed, running, timer] = [
    {} as ScriptedService,
    new Feed(),
    {} as RunningApp,
    undefined as NodeJS.Timeout | undefined,
  ];
  beforeEach(async () => {
    service = await bed.service();
    feed = new Feed();
    timer = setInterval(() => feed.broadcast(), BROADCAST_EVERY_MS);
  });
  afterEach(() => {
    clearInterval(timer);
    for (const attempt of attempts.splice(0)) attempt.close();
  });
  const keep = async (attempt: Promise<Attempt>): Promise<Attempt> => {
    const made = await attempt;
    attempts.push(made);
    return made;
  };
  const counts = (): SocketCounts => running.app.get(SessionSockets).countSockets();
  return {
    get service() {
      return service;
    },
    get feed() {
      return feed;
    },
    get url() {
      return running.url;
    },
    start: async (options = {}, gateways = [FeedGateway], logger) => {
      const providers = [...gateways, { provide: Feed, useValue: feed }];
      const sample = {
        baseUrl: service.url,
        options: { plugins: [sessionSockets], retry: false, ...options } as const,
        providers,
        controllers: [],
      };
      return (running = await bed.sample(sample, {
        ...(logger && { logger }),
        configure: (app) => void app.useWebSocketAdapter(adapter(app)),
      }));
    },
    attempt: (token, ...options) => keep(attempting(running.url, token, ...options)),
    attemptIn: (namespace, token) => keep(attemptSocketIo(`${running.url}${namespace}`, token)),
    counts,
    empty: () => until('the end of every socket', () => counts().watched + counts().waiting === 0),
  };
}
