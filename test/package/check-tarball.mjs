// Holds the tarball to its budgets, and its documents to links that work in it.
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { relativeLinks } from '../../tools/links.mjs';

/** Compressed, each part alone. The documents are the README and SKILL.md. */
const MAX_BYTES = { code: 240_000, documents: 10_000 };
const BLOCK = 512;
/** How far gzip looks back for bytes that it has written. */
const WINDOW = 32_768;

/**
 * Fails when the code or the documents are too large, a document links to a file that the tarball does not
 * hold, or a file of both formats other than `core.js` is too long for gzip to write the second as a reference.
 */
export function checkTarball(tarball) {
  const files = filesIn(tarball);
  const isDocument = ({ name }) => name.endsWith('.md');
  const parts = { code: files.filter((file) => !isDocument(file)), documents: files.filter(isDocument) };
  const sizes = Object.entries(parts).map(([part, members]) => [
    part,
    gzipSync(Buffer.concat(members.map(({ raw }) => raw)), { level: 9 }).length,
  ]);
  console.log(
    `the tarball: ${sizes.map(([part, bytes]) => `${part} ${bytes} of ${MAX_BYTES[part]} bytes`).join(', ')}`,
  );
  const tooLarge = sizes.filter(([part, bytes]) => bytes > MAX_BYTES[part]).map(([part]) => part);
  if (tooLarge.length > 0) throw new Error(`the tarball is over the budget for ${tooLarge.join(' and ')}`);

  const packedTwice = files
    .filter(({ name, raw }) => name.startsWith('dist/') && raw.length > WINDOW && !name.endsWith('/core.js'))
    .map(({ name }) => name);
  if (packedTwice.length > 0) throw new Error(`gzip packs twice: ${packedTwice.join(', ')}`);

  const names = new Set(files.map(({ name }) => name));
  const links = parts.documents.flatMap(({ name, text }) =>
    relativeLinks(name, text).map((target) => ({ name, target })),
  );
  const dead = links
    .filter(({ target }) => !names.has(target))
    .map(({ name, target }) => `${name}: ${target}`);
  if (links.length === 0 || dead.length > 0)
    throw new Error(`links that lead nowhere in the tarball:\n${dead.join('\n')}`);
  console.log(`${links.length} links of the ${parts.documents.length} documents in the tarball work`);
}

/**
 * The files of a tarball as npm writes it, in its order: names of less than 100 characters below `package/`.
 */
function filesIn(tarball) {
  const bytes = gunzipSync(readFileSync(tarball));
  const files = [];
  for (let at = 0; bytes[at];) {
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 135), 8);
    const end = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    const name = bytes.toString('utf8', at, bytes.indexOf(0, at)).replace(/^package\//, '');
    files.push({
      name,
      raw: bytes.subarray(at, end),
      text: bytes.toString('utf8', at + BLOCK, at + BLOCK + size),
    });
    at = end;
  }
  return files;
}
