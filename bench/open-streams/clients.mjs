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

/** @param method `Parts`, or `Chat`, to which the client sends a part too */
async function openGrpc(port, token, method) {
  const { streams } = grpc.loadPackageDefinition(loader.loadSync(PROTO));
  const client = new streams.Streams(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  metadata.set('x-auth-token', token);
  const call = method === 'Chat' ? client.Chat(metadata) : client.Parts({}, metadata);
  if (method === 'Chat') call.write({ text: 'hello' });
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

const graphqlSocket = ({ url }, token) =>
  openSocket(`${url.replace('http', 'ws')}/graphql`, token, 'graphql-transport-ws', subscribe);

/** The kinds, with what has them: all, unless said. */
export const KINDS = [
  { kind: '`@Sse()`', open: http('sse') },
  { kind: '`StreamableFile`', open: http('file') },
  { kind: 'async generator', majors: [12], open: http('generator') },
  { kind: '`ReadableStream`', majors: [12], open: http('web') },
  { kind: '`@Res()`', open: http('own') },
  {
    kind: 'socket of ws',
    open: ({ socketPort }, token) => openSocket(`ws://127.0.0.1:${socketPort}`, token),
  },
  { kind: 'graphql-ws', open: graphqlSocket },
  { kind: 'Mercurius', platforms: ['Fastify'], driver: 'Mercurius', open: graphqlSocket },
  { kind: 'GraphQL over SSE', open: http('subscription') },
  { kind: 'gRPC', open: ({ grpcPort }, token) => openGrpc(grpcPort, token, 'Parts') },
  { kind: 'gRPC, both directions', open: ({ grpcPort }, token) => openGrpc(grpcPort, token, 'Chat') },
].map((each) => ({ majors: [12, 11], platforms: ['Express', 'Fastify'], driver: 'Apollo', ...each }));
