// Tries the guides as a new user would: every block of the pages, as it is printed, in an application that
// has the packed tarballs.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeBlocks, fencesOf, programsOf } from '../../tools/code-blocks.mjs';
import { inFolder, INSTALL, run } from './steps.mjs';

/**
 * Programs that run at the same time. With all of them, one whose Redis must answer in time waits for the
 * others.
 */
const AT_ONCE = 4;

/**
 * Installs and type-checks the code of the guides; runs and tests it after `others`, which use the processors
 * that its programs need.
 */
export async function checkGuides(tarball, commands, others) {
  await inFolder('guides', async (folder) => {
    const count = layOut(folder, tarball, commands);
    await run(folder, 'npm', ...INSTALL, '--no-package-lock');
    for (const program of programs(folder)) await run(folder, 'npx', 'tsc', '-p', program);
    console.log(`guides: ${count} blocks compile`);
    await others;
    const trials = readdirSync(join(folder, 'trials')).filter((name) => name !== 'support.mjs');
    const waiting = trials.values();
    const runInTurn = async () => {
      for (const trial of waiting) await run(folder, process.execPath, join('trials', trial));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, runInTurn));
    // By default, Vitest finds no end-to-end test.
    const ofTesting = join(folder, 'pages/testing/vitest.config.js');
    cpSync(ofTesting, join(folder, 'pages/quick-start/vitest.config.js'));
    await Promise.all(
      ['README', 'quick-start', 'several-services', 'libs/session-auth/SKILL'].map((page) =>
        run(folder, 'npx', 'vitest', 'run', '--globals', '--root', `pages/${page}`),
      ),
    );
    const tested = join(folder, 'pages/testing');
    // A new user has no snapshot yet. Without the option, a runner that sees CI=true writes none, and fails.
    await run(tested, 'npx', 'vitest', 'run', '--update');
    // Each runner names its snapshots in its own way.
    rmSync(join(tested, 'test/__snapshots__'), { recursive: true });
    const flags = ['--experimental-vm-modules', '--no-warnings'];
    const jest = join(folder, 'node_modules/jest/bin/jest.js');
    await run(tested, process.execPath, ...flags, jest, '--updateSnapshot');
    console.log(`guides: ${trials.length} guides run, five are tested by Vitest, and one of them by Jest`);
  });
}

/** Writes the application, and every block of the pages into it. */
function layOut(folder, tarball, commands) {
  cpSync(fileURLToPath(new URL('guides', import.meta.url)), folder, { recursive: true });
  const file = join(folder, 'package.json');
  const app = JSON.parse(readFileSync(file, 'utf8'));
  app.dependencies['nestjs-session-auth'] = `file:${tarball}`;
  app.devDependencies['nestjs-session-auth-cli'] = `file:${commands}`;
  writeFileSync(file, JSON.stringify(app, undefined, 2));
  const blocks = codeBlocks();
  for (const { file, code, language } of blocks) {
    const isAlone = language === 'ts' && !/^(?:import|export)\b/m.test(code);
    write(join(folder, 'pages', file), isAlone ? `${code}export {};\n` : code);
  }
  const transcripts = fencesOf('docs/quick-start.md', 'console').map(({ text }) => text);
  write(join(folder, 'pages/quick-start/transcripts.json'), JSON.stringify(transcripts));
  return blocks.length;
}

/** Writes a configuration for each program of the pages; returns their names. */
function programs(folder) {
  return programsOf(codeBlocks()).map((files, index) => {
    const name = `tsconfig.program-${index + 1}.json`;
    const config = { extends: './tsconfig.json', files: files.map((file) => `pages/${file}`), include: [] };
    write(join(folder, name), JSON.stringify(config));
    return name;
  });
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
