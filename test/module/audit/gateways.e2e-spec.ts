import { describe, expect, it } from '@jest/globals';
import { UseGuards, type INestApplication, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { Public, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { SOCKET_IO } from '../../sockets/peers.js';
import { testbed } from '../../support/testbed.js';
import { outcomeOf, visit, type AuditedApp } from './audited-app.js';

const SAID = { event: 'answer', data: 'said' };

@WebSocketGateway()
class RuledMessage {
  @SubscribeMessage('say') @Roles('boss') sayForBosses(): unknown {
    visit('RuledMessage.sayForBosses');
    return SAID;
  }
}

@WebSocketGateway()
@Roles('boss')
class RuledGateway {
  @SubscribeMessage('say') sayForBosses(): unknown {
    visit('RuledGateway.sayForBosses');
    return SAID;
  }
}

@WebSocketGateway()
class PlainGateway {
  @SubscribeMessage('say') say(): unknown {
    visit('PlainGateway.say');
    return SAID;
  }

  @SubscribeMessage('open') @Public() open(): unknown {
    return SAID;
  }
}

@WebSocketGateway()
@UseGuards(SessionAuthGuard)
class GuardedGateway {
  @SubscribeMessage('say') say(): unknown {
    visit('GuardedGateway.say');
    return SAID;
  }
}

const [, adapter, connect] = SOCKET_IO;

function serving(gateway: Type, more: Partial<AuditedApp> = {}): AuditedApp {
  return {
    ...more,
    providers: [gateway, ...(more.providers ?? [])],
    configure: (app: INestApplication) => {
      more.configure?.(app);
      app.useWebSocketAdapter(adapter(app));
    },
    call: async ({ url }, token) => {
      const peer = await connect(url, {});
      await peer.ask('say', { token });
      await peer.close();
    },
  };
}

const closed = { options: { protectAllRoutes: true } };
const withGlobalGuard = { providers: [{ provide: APP_GUARD, useClass: SessionAuthGuard }] };
const guarding = { configure: (app: INestApplication) => void app.useGlobalGuards(app.get(SessionAuthGuard)) };

describe('an application with a gateway', () => {
  const bed = testbed();

  it.each<[string, () => AuditedApp, string[]]>([
    ['a rule on a message', () => serving(RuledMessage), ['RuledMessage.sayForBosses']],
    ['a rule on the gateway', () => serving(RuledGateway), ['RuledGateway.sayForBosses']],
    ['a guard on the gateway', () => serving(GuardedGateway), ['GuardedGateway.say']],
    ['protectAllRoutes', () => serving(PlainGateway, closed), ['PlainGateway.say']],
    ['APP_GUARD', () => serving(PlainGateway, withGlobalGuard), ['PlainGateway.say']],
    ['useGlobalGuards()', () => serving(PlainGateway, guarding), ['PlainGateway.say']],
  ])('is closed and passes the audit, with %s', async (_case, create, served) => {
    expect(await outcomeOf(create, await bed.service())).toEqual({ open: [], served, named: [], isStopped: false });
  });
});
