import { afterEach, beforeEach } from '@jest/globals';
import type { LoggerService } from '@nestjs/common';
import type { SessionAuthExtras, SessionAuthOptions } from 'nestjs-session-auth';
import { sessionSockets } from 'nestjs-session-auth/sockets';
import type { RunningApp } from '../support/platforms.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';
import { GatewayPlan, OpeningsGateway } from './openings.gateway.js';
import type { Peer, Presented, SocketLibrary } from './peers.js';

/** The fixture of a gateway test: created for each test, and closed after it. */
interface GatewayBed {
  readonly service: ScriptedService;
  readonly plan: GatewayPlan;
  start(
    options?: Partial<SessionAuthOptions & SessionAuthExtras>,
    logger?: LoggerService,
  ): Promise<RunningApp>;
  connect(presented?: Presented): Promise<Peer>;
}

/** Call it inside `describe`. */
export function gatewayBed([, adapter, connect]: SocketLibrary): GatewayBed {
  const bed = testbed();
  const peers: Peer[] = [];
  const current = { service: undefined as never as ScriptedService, plan: new GatewayPlan(), url: '' };
  beforeEach(async () => {
    current.service = await bed.service();
    current.plan = new GatewayPlan();
  });
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.close();
  });
  return {
    get service() {
      return current.service;
    },
    get plan() {
      return current.plan;
    },
    start: async (options = {}, logger) => {
      const providers = [OpeningsGateway, { provide: GatewayPlan, useValue: current.plan }];
      const sample = {
        baseUrl: current.service.url,
        options: { plugins: [sessionSockets], ...options },
        providers,
        controllers: [],
      };
      const app = await bed.sample(sample, {
        ...(logger && { logger }),
        configure: (nest) => void nest.useWebSocketAdapter(adapter(nest)),
      });
      current.url = app.url;
      return app;
    },
    connect: async (presented = {}) => {
      const peer = await connect(current.url, presented);
      peers.push(peer);
      return peer;
    },
  };
}
