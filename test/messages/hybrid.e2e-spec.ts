import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { ClientProxyFactory, MessagePattern, Transport, type ClientProxy, type MicroserviceOptions } from '@nestjs/microservices';
import { CurrentUser, fromHeader, fromPayload } from 'nestjs-session-auth';
import type { AddressInfo, Server } from 'node:net';
import { firstValueFrom } from 'rxjs';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

@Controller()
class HybridController {
  @Get('me')
  @MessagePattern('me')
  me(@CurrentUser('username') username: string): { name: string } {
    return { name: username };
  }
}

describe.each(PLATFORMS)('a hybrid application on %s that is protected as a whole', (_name, platform) => {
  const bed = testbed(platform);
  let client: ClientProxy | undefined;
  afterEach(async () => {
    await client?.close();
  });

  it('guards its routes and its message handlers with one guard', async () => {
    const service = await bed.service();
    const options = { protectAllRoutes: true, token: [fromHeader('x-auth-token'), fromPayload('token')] };
    const app = await bed.sample({ baseUrl: service.url, options, controllers: [HybridController] });
    const port = await listenForMessages(app.app);
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
    const token = service.signInAs({});

    expect((await app.get('/me')).status).toBe(401);
    expect(await (await app.get('/me', token)).json()).toEqual({ name: 'ann' });
    await expect(firstValueFrom(client.send('me', {}))).rejects.toMatchObject({ statusCode: 401, code: 'SESSION_REQUIRED' });
    expect(await firstValueFrom(client.send<unknown>('me', { token }))).toEqual({ name: 'ann' });
  });
});

async function listenForMessages(app: INestApplication): Promise<number> {
  const options = { host: '127.0.0.1', port: 0 };
  const messages = app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options }, { inheritAppConfig: true });
  await app.startAllMicroservices();
  return (messages.unwrap<Server>().address() as AddressInfo).port;
}
