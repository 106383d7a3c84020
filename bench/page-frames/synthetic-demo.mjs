import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';

const BATCHES_PER_SECOND = 20;
/** Number of batches after which a request settles. */
const SETTLES_AFTER = 4;
const KINDS = ['asked', 'joined', 'cached', 'unavailable', 'joined', 'turnedBack', 'denied', 'asked'];
const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', json: 'application/json' };
const INFO = { users: [], controls: true, platform: 'express' };
const REPORT = {
  breakers: { known: 'closed', strangers: 'closed' },
  cache: { ttlSeconds: 0, refreshAhead: false, staleIfError: false },
  fault: 'none',
};
/** The control: a canvas as large as the lane's, with one pixel changed in each frame. */
const EMPTY_CANVAS = `<!doctype html><title>empty</title><canvas width="1278" height="372"></canvas><script type="module">
  const context = document.querySelector('canvas').getContext('2d');
  const draw = () => { context.clearRect(0, 0, 1278, 372); context.fillRect(0, 0, 1, 1); requestAnimationFrame(draw); };
  draw();
</script>`;

/**
 * Serves a built page with a live stream of invented requests at a fixed rate, instead of a demo. Resolves to
 * its URL and a function that closes it.
 */
export async function serveSyntheticDemo(folder, perSecond) {
  const server = createServer(({ url = '/' }, reply) => {
    if (url === '/console/live') return void stream(reply, perSecond);
    const [type, body] = url === '/console/info' ? ['json', JSON.stringify(INFO)] : fileOf(folder, url);
    reply
      .writeHead(body === undefined ? 404 : 200, { 'content-type': TYPES[type] ?? 'text/plain' })
      .end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => (server.closeAllConnections(), server.close()),
  };
}

function fileOf(folder, url) {
  if (url === '/empty') return ['html', EMPTY_CANVAS];
  const name = url === '/' ? 'index.html' : url.slice(1);
  if (!/^(?:index\.html|page\.css|page\.js|sources\.json)$/.test(name)) return ['html', undefined];
  return [name.split('.').at(-1), readFileSync(join(folder, name))];
}

function stream(reply, perSecond) {
  const send = (event, data) => reply.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  send('history', [REPORT]);
  const pending = [];
  let id = 0;
  const timer = setInterval(() => {
    const entered = Array.from({ length: perSecond / BATCHES_PER_SECOND }, () => (id += 1));
    pending.push(entered);
    const settled = pending.length > SETTLES_AFTER ? pending.shift() : [];
    const events = [
      ...entered.flatMap((request) => [
        [request, 'in', request % 3 === 0 ? 'strangers' : 'known'],
        ...(hasCall(request) ? [[request, 'call']] : []),
      ]),
      ...settled.map((request) => [request, kindOf(request)]),
    ];
    send('marks', { events, more: {} });
  }, 1_000 / BATCHES_PER_SECOND);
  reply.on('close', () => clearInterval(timer));
}

function kindOf(request) {
  return KINDS[request % KINDS.length];
}

function hasCall(request) {
  return kindOf(request) === 'asked' || kindOf(request) === 'unavailable';
}
