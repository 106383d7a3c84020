import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = fileURLToPath(new URL('../../dist/packages', import.meta.url));

/** The path of the packed library. */
export function theTarball() {
  const [name, ...others] = readdirSync(packages);
  if (!name || others.length > 0) throw new Error(`dist/packages/ must hold the tarball alone, and holds: ${[name, ...others].join(', ')}`);
  return join(packages, name);
}
