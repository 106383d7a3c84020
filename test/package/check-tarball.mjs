// Holds the tarball to its budgets, and its documents to links that work in it.
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { relativeLinks } from '../../tools/links.mjs';

/** Compressed. The documents are the README and SKILL.md. */
const MAX_BYTES = { tarball: 245_000, documents: 10_000 };

/** Fails when the tarball or its documents are too large, or one links to a file that it does not hold. */
export function checkTarball(tarball) {
  const tar = (...args) => execFileSync('tar', args, { encoding: 'utf8', maxBuffer: 2 ** 24 });
  const names = tar('tzf', tarball).trim().split('\n');
  const documents = names
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ name, text: tar('xzOf', tarball, name) }));
  const sizes = {
    tarball: statSync(tarball).size,
    documents: gzipSync(documents.map(({ text }) => text).join(''), { level: 9 }).length,
  };
  for (const [part, bytes] of Object.entries(sizes)) {
    console.log(`the ${part}: ${bytes} of ${MAX_BYTES[part]} bytes`);
    if (bytes > MAX_BYTES[part]) throw new Error(`the ${part} is over its budget`);
  }
  const links = documents.flatMap(({ name, text }) => relativeLinks(name, text));
  const dead = links.filter((target) => !names.includes(target));
  if (links.length === 0 || dead.length > 0)
    throw new Error(`links that lead nowhere in the tarball: ${dead.join(', ')}`);
  console.log(`${links.length} links of the ${documents.length} documents in the tarball work`);
}
