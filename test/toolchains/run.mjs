// Tries the packed library (`npm run pack`) with bundlers, test runners, npm workspaces and generated
// applications. Writes the tables of docs/compatibility.md. `npm run test:toolchains -- bundlers` makes one
// table. TOOLCHAINS_FOLDER keeps the installed packages.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failuresOf, tableOf, writeSection } from '../runtimes/compatibility-page.mjs';
import * as bundlers from './bundlers.mjs';
import * as newApps from './new-apps.mjs';
import * as testRunners from './test-runners.mjs';
import * as workspaces from './workspaces.mjs';

/** By the name of the section that each writes. */
const TOOLCHAINS = { bundlers, 'test-runners': testRunners, workspaces, 'new-apps': newApps };

const [filter = ''] = process.argv.slice(2);
const kept = process.env.TOOLCHAINS_FOLDER;
const folder = kept ?? mkdtempSync(join(tmpdir(), 'session-auth-toolchains-'));
try {
  const selected = Object.entries(TOOLCHAINS).filter(([name]) => name.includes(filter));
  if (selected.length === 0)
    throw new Error(`no toolchain has a name with "${filter}": ${Object.keys(TOOLCHAINS).join(', ')}`);
  for (const [name, toolchain] of selected) await tryToolchain(name, toolchain);
} finally {
  if (!kept) rmSync(folder, { recursive: true, force: true });
}

/** Writes a table. A cell that fails makes this program fail. */
async function tryToolchain(name, { COLUMNS, tryAll }) {
  const rows = await tryAll(folder);
  const table = tableOf(COLUMNS, rows);
  console.log(table);
  for (const row of rows) {
    const failures = failuresOf(row);
    if (failures.length === 0) continue;
    process.exitCode = 1;
    console.error([...failures, row.said].join('\n'));
  }
  await writeSection(name, table);
}
