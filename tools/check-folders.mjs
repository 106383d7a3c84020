// Fails if folders of the libraries import each other in a circle, at any depth, in values or types.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const libraries = fileURLToPath(new URL('../libs', import.meta.url));

/**
 * Returns the cycles of folders, such as `session-auth/module/audit`: of each group, the imports "a -> b"
 * inside of it.
 */
export function readFolderCycles() {
  const imports = importsBetweenFolders();
  const depths = Math.max(...imports.flat().map((folder) => folder.split('/').length));
  const cycles = new Map();
  for (let depth = 1; depth <= depths; depth += 1) {
    // Files of a/b/c and of a/b/d count for a/b at depth two, so that whole branches may not import each
    // other either.
    const cut = (folder) => folder.split('/').slice(0, depth).join('/');
    const edges = new Map();
    for (const [from, to] of imports.map((pair) => pair.map(cut))) {
      if (from !== to) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
    const reached = new Map([...edges.keys()].map((folder) => [folder, reach(edges, folder)]));
    const together = (a, b) => Boolean(reached.get(a)?.has(b) && reached.get(b)?.has(a));
    for (const from of edges.keys()) {
      const group = [...edges.keys()].filter((folder) => together(from, folder)).sort();
      const inside = group.flatMap((a) =>
        [...edges.get(a)].filter((b) => group.includes(b)).map((b) => `${a} -> ${b}`),
      );
      if (group.length > 0) cycles.set(group.join(', '), inside);
    }
  }
  return cycles;
}

/** Returns pairs of folders, for each import between two files. */
function importsBetweenFolders() {
  const files = readdirSync(libraries, { recursive: true }).filter((file) =>
    /^[^/]+\/src\/.*(?<![.]spec)[.]ts$/.test(file),
  );
  return files.flatMap((file) =>
    ts
      .preProcessFile(readFileSync(join(libraries, file), 'utf8'), true, true)
      .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
      .map(({ fileName }) =>
        [dirname(file), join(dirname(file), dirname(fileName))].map((folder) => folder.replace('/src', '')),
      ),
  );
}

function reach(edges, start) {
  const [seen, open] = [new Set(), [start]];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of edges.get(folder) ?? []) {
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  }
  return seen;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cycles = readFolderCycles();
  for (const [group, inside] of cycles)
    console.error(`Folders import each other: ${group}. Cut one of these:\n  ${inside.join('\n  ')}`);
  process.exitCode = cycles.size > 0 ? 1 : 0;
}
