import { afterEach, describe, expect, it } from '@jest/globals';
import { SessionAuthService } from 'nestjs-session-auth';
import { sessionSockets } from 'nestjs-session-auth/sockets';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { GatewayPlan, OpeningsGateway } from '../sockets/openings.gateway.js';
import { type Peer, SOCKET_LIBRARIES } from '../sockets/peers.js';
import { openReply, type OpenReply } from './open-reply.js';
import { checksOf, Sources, StreamsController } from './streams.controller.js';

const RECHECK_MS = 100;

describe.each(SOCKET_LIBRARIES)('streams and sockets of %s of one session', (_name, adapter, connect) => {
  const open: OpenReply[] = [];
  const peers: Peer[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) each.leave();
    for (const peer of peers.splice(0)) await peer.close();
  });
  const bed = testbed();

  /** A session with three sockets and three streams. The options of the registration are those of both. */
  async function start(outageGraceMs: number) {
    const service = await bed.service();
    const plan = new GatewayPlan();
    plan.watch = {};
    const app = await bed.sample(
      {
        baseUrl: service.url,
        options: {
          retry: false,
          breaker: false,
          plugins: [sessionSockets],
          whileOpen: { recheckMs: RECHECK_MS, outageGraceMs },
        },
        controllers: [StreamsController],
        providers: [OpeningsGateway, { provide: GatewayPlan, useValue: plan }, Sources],
      },
      { configure: (nest) => void nest.useWebSocketAdapter(adapter(nest)) },
    );
    const token = service.signInAs({ username: 'ann' });
    for (let count = 0; count < 3; count += 1) {
      peers.push(await connect(app.url, { headers: { 'x-auth-token': token } }));
      open.push(await openReply(`${app.url}/sse`, token));
    }
    await until('the streams have begun', () => open.every((stream) => stream.text().includes('part')));
    return { service, app, token };
  }

  const allOver = async (): Promise<unknown[]> => {
    await until('the sockets are closed', () => peers.every((peer) => !peer.isOpen()));
    return Promise.all(open.map((stream) => stream.over()));
  };

  it('are checked again together [P30]', async () => {
    const { service, app, token } = await start(60_000);
    const other = service.signInAs({});
    open.push(await openReply(`${app.url}/sse`, other));
    const [before, others] = [checksOf(service, token), checksOf(service, other)];
    await until('another session is checked again', () => checksOf(service, other) >= others + 5);

    // Each alone would make six times as many as the other session.
    expect(checksOf(service, token) - before).toBeLessThan(3 * (checksOf(service, other) - others));
  });

  it('end together: when it is signed out [P39]', async () => {
    const { app, token } = await start(60_000);
    await app.app.get(SessionAuthService).signOut(token);
    expect(await allOver()).toEqual(['complete', 'complete', 'complete']);
  });

  it('end together: when the service has not confirmed it for outageGraceMs [P39]', async () => {
    const { service } = await start(300);
    const sinceMs = performance.now();
    await service.close();
    expect(await allOver()).toEqual(['complete', 'complete', 'complete']);
    expect(open[0]?.text()).toContain('"statusCode":503');
    expect(performance.now() - sinceMs).toBeGreaterThan(250);
  });
});
