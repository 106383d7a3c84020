import { deepEqual, rejects } from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { SessionAuthService } from 'nestjs-session-auth';
import { trial, underTest } from './support.mjs';

/** Each import with a name of its own has a transport of its own. */
async function start(Adapter) {
  const { AppModule, strategy } = await import(`../dist/mcp/src/app.js?${Adapter.name}`);
  const { sessions, moduleRef } = await underTest(AppModule);
  const app = moduleRef.createNestApplication(new Adapter());
  app.connectMicroservice({ strategy });
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  return { sessions, app, url: new URL('/mcp', await app.getUrl()) };
}

async function connect(url, headers) {
  const client = new Client({ name: 'trial', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

async function call(client, name) {
  const { isError = false, content } = await client.callTool({ name, arguments: {} });
  return { isError, text: content[0].text };
}

for (const Adapter of [ExpressAdapter, FastifyAdapter])
  await trial(`MCP with ${Adapter.name}`, async () => {
    const { sessions, app, url } = await start(Adapter);
    await rejects(connect(url, {}), /401/);
    await rejects(connect(url, { 'x-auth-token': 'unknown' }), /401/);

    const newHire = await connect(url, sessions.signInAs({ username: 'bob', role: 'new_hire' }));
    const { tools } = await newHire.listTools();
    deepEqual(
      tools.map(({ name }) => name),
      ['close', 'help'],
    );
    deepEqual(await call(newHire, 'close'), { isError: true, text: 'Access is denied' });
    deepEqual(await call(newHire, 'help'), { isError: false, text: '"Ask a manager"' });

    const headers = sessions.signInAs({ username: 'ann', role: 'hiring_manager' });
    const manager = await connect(url, headers);
    deepEqual(await call(manager, 'close'), { isError: false, text: '{"closedBy":"ann"}' });
    await app.get(SessionAuthService).signOut(headers['x-auth-token']);
    await rejects(call(manager, 'close'), /401/);
    await app.close();
  });
