// Writes the CycloneDX bill of materials of each tarball into dist/sbom: the packages that an installation
// adds. Peers are the application's own choice.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const target = fileURLToPath(new URL('../dist/sbom', import.meta.url));
for (const folder of ['packages', 'packages-cli']) {
  const packages = fileURLToPath(new URL(`../dist/${folder}`, import.meta.url));
  const [file] = readdirSync(packages).filter((name) => name.endsWith('.tgz'));
  if (!file) throw new Error(`there is no tarball in dist/${folder}: run npm run pack and npm run pack:cli`);
  write(join(packages, file));
}

function write(tarball) {
  const bill = billOf(tarball);
  const missing = bill.components
    .filter(({ purl, hashes = [] }) => !purl || hashes.length === 0)
    .map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(`the bill of materials has no package URL or hash of ${missing.join(', ')}`);
  mkdirSync(target, { recursive: true });
  writeFileSync(
    join(target, basename(tarball).replace(/tgz$/, 'cdx.json')),
    `${JSON.stringify(bill, undefined, 2)}\n`,
  );
  console.log(
    `${basename(tarball)} depends on ${bill.components.map(({ name, version }) => `${name} ${version}`).join(', ')}`,
  );
}

/** Lets npm resolve and list the dependencies of the tarball's manifest. */
function billOf(tarball) {
  const folder = mkdtempSync(join(tmpdir(), 'session-auth-sbom-'));
  try {
    execFileSync('tar', ['-xzf', tarball, '-C', folder]);
    const manifest = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'));
    const { name, version, description, license, author, repository, homepage, dependencies } = manifest;
    // npm names the component after its folder.
    const home = join(folder, name);
    renameSync(join(folder, 'package'), home);
    writeFileSync(
      join(home, 'package.json'),
      JSON.stringify({ name, version, description, license, author, repository, homepage, dependencies }),
    );
    const npm = (...args) =>
      execFileSync('npm', [...args, '--package-lock-only'], { cwd: home, encoding: 'utf8' });
    npm('install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error');
    const bill = JSON.parse(npm('sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'library'));
    const content = createHash('sha512').update(readFileSync(tarball)).digest('hex');
    bill.metadata.component.hashes = [{ alg: 'SHA-512', content }];
    const listed = new Set(bill.components.map((component) => component.name));
    const unlisted = Object.keys(dependencies).filter((dependency) => !listed.has(dependency));
    if (unlisted.length > 0) throw new Error(`the bill of materials does not list ${unlisted.join(', ')}`);
    return bill;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
