import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Question } from '../question.js';
import { spreadOf } from '../spread.js';
import { atMost } from '../target.js';

const WORKSPACE = fileURLToPath(new URL('../../../', import.meta.url));
/**
 * The files of the published package in the workspace's folder; `docs` without images and the fault
 * catalogue.
 */
const SHARED_FILES = ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs'];
const NOT_PACKED = /\/docs\/(?:images|faults[.]md)/;

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Measures the installed size. */
export const size: Question = {
  name: 'size',
  title: 'Size of the package',
  ask: async () => {
    const library = join(WORKSPACE, 'libs/session-auth');
    const { dependencies = {} } = JSON.parse(
      await readFile(join(library, 'package.json'), 'utf8'),
    ) as Manifest;
    const names = Object.keys(dependencies);
    return {
      findings: [
        {
          subject: 'tarball',
          unit: 'kB',
          value: spreadOf([(await tarballBytes(library)) / 1_000]),
          target: atMost(80),
        },
        {
          subject: `runtime dependencies: ${names.join(', ')}`,
          unit: 'packages',
          value: spreadOf([names.length]),
          target: atMost(3),
        },
      ],
    };
  },
};

async function tarballBytes(library: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-pack-'));
  try {
    for (const entry of ['package.json', 'dist'])
      await cp(join(library, entry), join(folder, entry), { recursive: true });
    for (const file of SHARED_FILES) {
      await cp(join(WORKSPACE, file), join(folder, file), {
        recursive: true,
        filter: (path) => !NOT_PACKED.test(path),
      });
    }
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: folder,
    });
    const [packed] = JSON.parse(stdout) as { size: number }[];
    assert.ok(packed, 'npm has packed');
    return packed.size;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
