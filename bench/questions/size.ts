import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Question } from '../question.js';
import { estimateOf } from '../estimate.js';
import { atMost } from '../target.js';

const LIBRARY = fileURLToPath(new URL('../../../libs/session-auth/', import.meta.url));

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Measures the installed size. */
export const size: Question = {
  name: 'size',
  title: 'Size of the package',
  ask: async () => {
    const { dependencies = {} } = JSON.parse(
      await readFile(join(LIBRARY, 'package.json'), 'utf8'),
    ) as Manifest;
    const names = Object.keys(dependencies);
    return {
      findings: [
        {
          subject: 'tarball',
          unit: 'kB',
          value: estimateOf([(await tarballBytes()) / 1_000]),
          target: atMost(180),
        },
        {
          subject: `runtime dependencies: ${names.join(', ')}`,
          unit: 'packages',
          value: estimateOf([names.length]),
          target: atMost(3),
        },
      ],
    };
  },
};

async function tarballBytes(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-pack-'));
  try {
    await promisify(execFile)(process.execPath, [join(LIBRARY, 'pack.mjs'), folder]);
    const [tarball] = await readdir(folder);
    assert.ok(tarball, 'npm has packed');
    return (await stat(join(folder, tarball))).size;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
