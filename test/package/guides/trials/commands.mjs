import { equal } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expectStatus, trial } from './support.mjs';

await trial('the commands', async () => {
  const program = [
    'node_modules/.bin/nestjs-session-auth-cli',
    'dev',
    '--port',
    '0',
    '--user',
    'ann:ann-demo',
  ];
  const service = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [greeting] = await once(service.stdout, 'data');
    const [url] = /http:[^\s,]+/.exec(String(greeting));
    const key = { 'x-api-key': 'any' };
    const signIn = () =>
      fetch(`${url}/authentication`, {
        method: 'POST',
        headers: { ...key, 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'ann', password: 'ann-demo' }),
      });
    const details = (token) =>
      fetch(`${url}/authentication/user_details`, { headers: { ...key, 'x-auth-token': token } });
    const { auth_token: token } = await (await expectStatus(signIn(), 200)).json();
    await expectStatus(details(token), 200);

    const control = (action, body = {}) =>
      expectStatus(
        fetch(`${url}/_dev/${action}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
        200,
      );
    await control('reset');
    equal((await details(token)).status === 200, false);
    const { auth_token: again } = await (await signIn()).json();
    await expectStatus(details(again), 200);
    await control('revoke', { username: 'ann' });
    equal((await details(again)).status === 200, false);
    await control('fail', { as: 503 });
    await expectStatus(details(again), 503);
    await control('reset');
    await expectStatus(signIn(), 200);
  } finally {
    service.kill();
  }
});
