import { expect, it } from '@jest/globals';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { fromPayload, Public } from 'nestjs-session-auth';
import { CapturedLog } from '../support/captured-log.js';
import { describeOnNest12 } from '../support/nest-major.js';
import { testbed } from '../support/testbed.js';
import { SOCKET_LIBRARIES } from '../sockets/peers.js';

@WebSocketGateway()
class PlainGateway {
  @SubscribeMessage('say') say(): unknown {
    return { event: 'answer', data: 'said' };
  }

  @SubscribeMessage('open') @Public() open(): unknown {
    return { event: 'answer', data: 'open' };
  }
}

// On NestJS 11 guards of the whole application do not reach gateways.
describeOnNest12.each(SOCKET_LIBRARIES)('a gateway without a guard of its own on %s', (_name, adapter, connect) => {
  const bed = testbed();

  it('is guarded with the whole application, and the audit has nothing to say of it', async () => {
    const service = await bed.service();
    const logger = new CapturedLog();
    const options = { protectAllRoutes: true, token: fromPayload('token') };
    const sample = { baseUrl: service.url, options, providers: [PlainGateway], controllers: [] };
    const app = await bed.sample(sample, { logger, configure: (nest) => void nest.useWebSocketAdapter(adapter(nest)) });
    const peer = await connect(app.url, {});

    expect(await peer.ask('say')).toMatchObject(['exception', { statusCode: 401, code: 'SESSION_REQUIRED' }]);
    expect(await peer.ask('say', { token: service.signInAs({}) })).toEqual(['answer', 'said']);
    expect(await peer.ask('open')).toEqual(['answer', 'open']);
    expect(logger.having('warn', 'audit')).toEqual([]);
    await peer.close();
  });
});
