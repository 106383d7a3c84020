// Sends requests on keep-alive connections, in a separate process.
import { Pool } from 'undici';

const CONNECTIONS = 50;

process.on('message', async ({ url, tokens, durationMs }) => {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const began = performance.now();
  let requests = 0;
  const work = async () => {
    while (performance.now() - began < durationMs) {
      const headers = { 'x-auth-token': tokens[(requests += 1) % tokens.length] };
      const { statusCode, body } = await pool.request({ path: '/things', method: 'GET', headers });
      await body.dump();
      if (statusCode !== 200) throw new Error(`status ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  await pool.close();
  process.send({ requests });
});
process.on('disconnect', () => process.exit());
