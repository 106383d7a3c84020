import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of the packed library. */
export function theTarball() {
  return onlyTarballOf('packages');
}

export function theTarballOfCommands() {
  return onlyTarballOf('packages-cli');
}

function onlyTarballOf(name) {
  const folder = fileURLToPath(new URL(`../../dist/${name}`, import.meta.url));
  const [tarball, ...others] = readdirSync(folder);
  if (!tarball || others.length > 0)
    throw new Error(
      `dist/${name}/ must hold one tarball alone, and holds: ${[tarball, ...others].join(', ')}`,
    );
  return join(folder, tarball);
}
