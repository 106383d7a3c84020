// A registry that has one package from a file; for all others it points to the registry that npm is
// configured with.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** Serves a tarball under the name and version that its own package.json has. */
export async function startRegistry(tarball) {
  const bytes = readFileSync(tarball);
  const manifest = JSON.parse(
    execFileSync('tar', ['xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
  );
  const upstream = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })
    .trim()
    .replace(/\/$/, '');
  const file = `/${manifest.name}/-/${manifest.name}-${manifest.version}.tgz`;
  const server = createServer((request, reply) => {
    if (request.url === `/${manifest.name}`)
      reply.setHeader('content-type', 'application/json').end(JSON.stringify(packument()));
    else if (request.url === file) reply.end(bytes);
    else reply.writeHead(307, { location: upstream + request.url }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;

  function packument() {
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const { name, version } = manifest;
    const versions = { [version]: { ...manifest, dist: { tarball: url + file, integrity } } };
    return { name, 'dist-tags': { latest: version }, versions };
  }

  return { url, close: () => server.close() };
}
