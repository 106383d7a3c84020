import { afterEach, expect, it } from '@jest/globals';
import { MeController } from '../support/sample-app.js';
import { describeWithNginx, NginxServer } from '../support/nginx.js';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { Sources, StreamsController } from './streams.controller.js';

/**
 * By default, nginx takes an instance out for ten seconds when one of its connections is cut before the head
 * of a reply.
 */
describeWithNginx.each(PLATFORMS)('two instances on %s behind nginx with its defaults', (_name, platform) => {
  let nginx: NginxServer | undefined;
  afterEach(() => nginx?.close());
  const bed = testbed(platform);

  async function start() {
    const service = await bed.service();
    const sample = {
      baseUrl: service.url,
      options: { retry: false, breaker: false } as const,
      controllers: [MeController, StreamsController],
      providers: [Sources],
    };
    const instances = [await bed.sample(sample), await bed.sample(sample)];
    const servers = instances.map(({ url }) => `server ${new URL(url).host};`);
    nginx = await NginxServer.start({
      http: `upstream instances { ${servers.join(' ')} }`,
      server: 'location / { proxy_pass http://instances; }',
    });
    const { url } = nginx;
    const call = async (path: string, token: string, method = 'GET'): Promise<number> => {
      const { status, body } = await fetch(`${url}/${path}`, { method, headers: { 'x-auth-token': token } });
      await body?.cancel();
      return status;
    };
    return { service, sources: instances.map(({ app }) => app.get(Sources)), call };
  }

  it('answer others while one user requests streams and signs out [P75]', async () => {
    const { service, sources, call } = await start();
    const victim = service.signInAs({ username: 'bob' });
    const [statuses, denials] = [new Set<number>(), new Set<number>()];
    const waiting = (): number => sources.reduce((sum, each) => sum + each.waiting.length, 0);
    for (let round = 0; round < 3; round += 1) {
      const tokens = [service.signInAs({}), service.signInAs({})];
      let answered = 0;
      const requests = tokens.flatMap((token) =>
        ['late-file', 'late-events', 'late-part'].map((path) =>
          call(path, token).finally(() => (answered += 1)),
        ),
      );
      await until('all handlers run', () => waiting() + answered === requests.length);
      for (const token of tokens) await call('sign-out', token, 'POST');
      for (const each of sources) each.begin();
      const cut = until('no handler waits', () => {
        // nginx repeats a request whose connection was cut.
        for (const each of sources) each.begin();
        return answered === requests.length;
      });
      for (const status of await Promise.all(requests)) denials.add(status);
      await cut;
      for (let request = 0; request < 10; request += 1) statuses.add(await call('me', victim));
    }
    expect([...statuses]).toEqual([200]);
    expect([...denials]).toEqual([401]);
  });
});
