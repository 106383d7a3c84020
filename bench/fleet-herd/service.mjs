// The session service of the measurement: answers each call after 40 ms, at most `places` at a time. Reports
// how often it was called.
import { createServer } from 'node:http';

const [places] = process.argv.slice(2).map(Number);
const ANSWER_MS = 40;
const waiting = [];
let [calls, busy] = [0, 0];

function begin(answer) {
  busy += 1;
  setTimeout(() => {
    busy -= 1;
    answer();
    const next = waiting.shift();
    if (next) begin(next);
  }, ANSWER_MS);
}

const server = createServer((request, response) => {
  calls += 1;
  const token = request.headers['x-auth-token'];
  const answer = () =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ username: `user of ${token}`, auth_token: token }));
  if (busy < places) begin(answer);
  else waiting.push(answer);
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
process.on('message', () => {
  process.send({ calls });
  calls = 0;
});
process.on('disconnect', () => process.exit());
