// A session service on a loopback port, which counts connections and answers as the token says.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';

const CHUNK = 'a'.repeat(16_384);
const MAX_CHUNKS = 10_000;

/**
 * The answers to tokens, by their prefix. Any other token belongs to a user of the role that is its prefix.
 */
const ANSWERS = {
  unknown: (response) => response.writeHead(401).end(),
  silent: () => undefined,
  endless: sendWithoutEnd,
  long: (response) => json(response, { username: 'ann', email: 'a'.repeat(70_000) }),
};

/** Starts the service. `stop()` closes its port and its connections. */
export async function startService() {
  const seen = { calls: 0, connections: 0, chunks: 0 };
  const server = createServer((request, response) => answer(request, response, seen)).listen(0, '127.0.0.1');
  server.keepAliveTimeout = 60_000;
  server.on('connection', () => (seen.connections += 1));
  await once(server, 'listening');
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${server.address().port}`, seen, stop };
}

function answer(request, response, seen) {
  seen.calls += 1;
  if (request.headers['x-api-key'] !== 'key-of-the-trial') return response.writeHead(401).end();
  if (request.method === 'POST') return signIn(request, response);
  if (request.method === 'DELETE') return response.end();
  const token = request.headers['x-auth-token'] ?? '';
  const kind = token.split('-', 1)[0];
  if (kind in ANSWERS) return ANSWERS[kind](response, seen);
  return json(response, { username: 'ann', role: kind, auth_token: token });
}

async function signIn(request, response) {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { password } = JSON.parse(body);
  if (password === 'right') json(response, { username: 'ann', auth_token: 'manager-signed-in' });
  else response.writeHead(401).end();
}

function json(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Sends a body until the connection closes, and no more than the reader takes. */
function sendWithoutEnd(response, seen) {
  response.writeHead(200, { 'content-type': 'application/json' });
  pipeline(chunks(seen), response, () => undefined);
}

function* chunks(seen) {
  for (; seen.chunks < MAX_CHUNKS; seen.chunks += 1) yield CHUNK;
}
