import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Inject, type INestApplication } from '@nestjs/common';
import { MessagePattern, type ClientProxy, type MicroserviceOptions } from '@nestjs/microservices';
import { type OnGatewayInit, SubscribeMessage, WebSocketGateway, type WsResponse } from '@nestjs/websockets';
import { CurrentUser, fromPayload, Roles } from 'nestjs-session-auth';
import { sessionSockets, SessionSockets } from 'nestjs-session-auth/sockets';
import { firstValueFrom } from 'rxjs';
import { TCP, tcpClientOf } from '../messages/openings.microservice.js';
import { HandshakeDenied, SOCKET_LIBRARIES, type Peer } from '../sockets/peers.js';
import { bootstrapError } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';
import { PARTNER, Partners, Root, Staff, STAFF, twoServices } from './two-registrations.js';

/** Of the registration for staff, whose guard Nest calls for all modules. */
const CLOSED = { isGlobal: true, protectAllRoutes: true };

const text = String;

@Controller()
class StaffMessages {
  @MessagePattern('staff') staff(@CurrentUser('username') name?: string): string {
    return text(name);
  }
}
@Controller()
class PartnersMessages {
  @MessagePattern('partners') partners(@CurrentUser('username') name?: string): string {
    return text(name);
  }

  @MessagePattern('ruled') @Roles('clerk') ruled(@CurrentUser('username') name?: string): string {
    return text(name);
  }
}

describe('messages of a hybrid application', () => {
  const bed = testbed();
  let client: ClientProxy | undefined;
  afterEach(async () => {
    await client?.close();
  });

  it('are checked by the registration of their module [P68]', async () => {
    const { forStaff, forPartners, asked, ann, bob } = await twoServices(bed);
    const imports = [
      {
        module: Staff,
        imports: [forStaff({ ...CLOSED, token: fromPayload('staff') })],
        controllers: [StaffMessages],
      },
      {
        module: Partners,
        imports: [forPartners({ token: fromPayload('partner') })],
        controllers: [PartnersMessages],
      },
    ];
    const { app } = await bed.app({ module: Root, imports });
    const messages = app.connectMicroservice<MicroserviceOptions>(TCP);
    await app.startAllMicroservices();
    client = tcpClientOf(messages);
    const send = (pattern: string, data: object): Promise<unknown> =>
      firstValueFrom((client ?? tcpClientOf(messages)).send<unknown>(pattern, data)).catch(
        (error: unknown) => (error as { readonly code?: string }).code,
      );
    const both = { staff: ann, partner: bob };
    expect(await send('staff', both)).toBe('ann');
    expect(asked()).toEqual({ staff: [ann], partner: [] });
    for (const pattern of ['partners', 'ruled']) {
      expect(await send(pattern, both)).toBe('bob');
      expect(await send(pattern, { staff: ann })).toBe('SESSION_REQUIRED');
      expect(asked()).toEqual({ staff: [], partner: [bob] });
    }
  });
});

abstract class Feed implements OnGatewayInit {
  abstract readonly sockets: SessionSockets;

  afterInit(server: object): void {
    this.sockets.protect(server, { recheckMs: 3_600_000 });
  }

  @SubscribeMessage('me') @Roles('clerk') me(@CurrentUser('username') name?: string): WsResponse {
    return { event: 'answer', data: name };
  }
}

@WebSocketGateway()
class PartnersGateway extends Feed {
  constructor(readonly sockets: SessionSockets) {
    super();
  }
}
@WebSocketGateway()
class OtherGateway extends Feed {
  constructor(readonly sockets: SessionSockets) {
    super();
  }
}
@WebSocketGateway()
class ForeignGateway extends Feed {
  constructor(@Inject('of the staff') readonly sockets: SessionSockets) {
    super();
  }
}

const plugins = [sessionSockets];

describe('a gateway with SessionSockets of another registration', () => {
  const bed = testbed();

  it('than that of its module stops the start [P68]', async () => {
    const { forStaff, forPartners } = await twoServices(bed);
    const foreign = {
      module: Staff,
      imports: [forStaff({ plugins })],
      providers: [{ provide: 'of the staff', useExisting: SessionSockets }],
      exports: ['of the staff'],
    };
    const own = {
      module: Partners,
      imports: [foreign, forPartners({ plugins })],
      providers: [ForeignGateway],
    };
    expect((await bootstrapError({ module: Root, imports: [own] })).message).toBe(
      'ForeignGateway has SessionSockets of another registration of SessionAuthModule than that of its module, which checks its messages. Inject those of its module.',
    );
  });

  it('beside another one on the same port stops the start [P68]', async () => {
    const { forStaff, forPartners } = await twoServices(bed);
    const imports = [
      { module: Staff, imports: [forStaff({ plugins })], providers: [OtherGateway] },
      { module: Partners, imports: [forPartners({ plugins })], providers: [PartnersGateway] },
    ];
    await expect(bed.app({ module: Root, imports })).rejects.toThrow(
      'SessionSockets.protect() was called for one server by two registrations. Protect it by one: give the gateways of each another port.',
    );
  });
});

describe.each(SOCKET_LIBRARIES)('a gateway on %s', (_name, adapter, connect) => {
  const bed = testbed();
  const peers: Peer[] = [];
  afterEach(async () => {
    for (const peer of peers.splice(0)) await peer.close();
  });
  const configure = (app: INestApplication): void => void app.useWebSocketAdapter(adapter(app));

  it('is checked by the registration of its module, at its handshake and each message [P68]', async () => {
    const { forStaff, forPartners, asked, ann, bob } = await twoServices(bed);
    const partners = {
      module: Partners,
      imports: [forPartners({ plugins })],
      providers: [PartnersGateway],
    };
    const app = await bed.app(
      { module: Root, imports: [forStaff({ ...CLOSED, plugins }), partners] },
      { configure },
    );
    const peer = await connect(app.url, { headers: { [STAFF]: ann, [PARTNER]: bob } });
    peers.push(peer);
    expect(await peer.ask('me')).toEqual(['answer', 'bob']);
    await expect(connect(app.url, { headers: { [STAFF]: ann } })).rejects.toThrow(HandshakeDenied);
    const { staff, partner } = asked();
    expect([staff, new Set(partner)]).toEqual([[], new Set([bob])]);
  });
});
