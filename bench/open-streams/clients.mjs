// Clients that hold a reply open, one function for each kind. Each resolves once two parts have arrived, with
// `over`, a promise of the time of the last byte.
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';

/** Milliseconds of the machine's monotonic clock, which all processes share. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

export const PROTO = fileURLToPath(new URL('streams.proto', import.meta.url));
const agent = new Agent({ keepAlive: false, maxSockets: Infinity });

/** Opens a reply over HTTP. */
export async function openHttp(url, token, wanted = 2) {
  const call = get(url, { agent, headers: { 'x-auth-token': token } });
  const [reply] = await once(call, 'response');
  if (reply.statusCode !== 200) throw new Error(`${reply.statusCode} of ${url}`);
  let parts = 0;
  let lastAt = now();
  const begun = new Promise((resolve) => {
    reply.on('data', (chunk) => {
      lastAt = now();
      parts += String(chunk).split('part').length - 1;
      if (parts >= wanted) resolve();
    });
  });
  reply.on('error', () => undefined);
  const over = new Promise((resolve) => reply.once('close', () => resolve(Math.max(lastAt, now()))));
  await begun;
  return { over, leave: () => call.destroy() };
}

async function openSocket(url, token, protocol, begin) {
  const socket = new WebSocket(url, protocol, { headers: { 'x-auth-token': token } });
  const over = new Promise((resolve) => socket.once('close', () => resolve(now())));
  await once(socket, 'open');
  let parts = 0;
  const begun = new Promise((resolve) => {
    socket.on('message', (data) => {
      if (begin?.(socket, JSON.parse(data))) return;
      parts += 1;
      if (parts === 2) resolve();
    });
  });
  if (begin) socket.send(JSON.stringify({ type: 'connection_init', payload: { token } }));
  await begun;
  return { over, leave: () => socket.terminate() };
}

/** Begins the subscription when the server has accepted the socket. */
function subscribe(socket, { type }) {
  if (type === 'connection_ack') {
    const payload = { query: 'subscription { news }' };
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
  }
  return type !== 'next';
}

async function openGrpc(port, token) {
  const { streams } = grpc.loadPackageDefinition(loader.loadSync(PROTO));
  const client = new streams.Streams(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  metadata.set('x-auth-token', token);
  const call = client.Parts({}, metadata);
  const over = new Promise((resolve) =>
    call.once('error', () => {
      resolve(now());
      client.close();
    }),
  );
  let parts = 0;
  await new Promise((resolve) => {
    call.on('data', () => {
      parts += 1;
      if (parts === 2) resolve();
    });
  });
  return { over, leave: () => call.cancel() };
}

const http =
  (path) =>
  ({ url }, token) =>
    openHttp(`${url}/${path}`, token);

/** The kinds, and whether NestJS 11 has them. */
export const KINDS = [
  ['`@Sse()`', true, http('sse')],
  ['`StreamableFile`', true, http('file')],
  ['async generator', false, http('generator')],
  ['`ReadableStream`', false, http('web')],
  ['`@Res()`', true, http('own')],
  ['socket of ws', true, ({ socketPort }, token) => openSocket(`ws://127.0.0.1:${socketPort}`, token)],
  [
    'graphql-ws',
    true,
    ({ url }, token) =>
      openSocket(`${url.replace('http', 'ws')}/graphql`, token, 'graphql-transport-ws', subscribe),
  ],
  ['gRPC', true, ({ grpcPort }, token) => openGrpc(grpcPort, token)],
];
