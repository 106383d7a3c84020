// The four applications that the package must work in. They share their source, which is in `empty-app/`.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nestPackages } from './dependencies.mjs';

const BASIC = ['common', 'core', 'platform-express'];
const OF_11 = { 'class-validator': '^0.14.0', typescript: '~5.7.3' };
const NESTJS_11 = { ...nestPackages('^11.0.0', ...BASIC), ...OF_11 };
/** The oldest release that the peers admit. */
const OLDEST = '11.1.18';
const OLDEST_NESTJS = { ...nestPackages(OLDEST, ...BASIC), ...OF_11 };
const NESTJS_12 = {
  ...nestPackages('^12.0.0', ...BASIC),
  'class-validator': '^0.15.0',
  typescript: '6.0.3',
};
/** The setting of `empty-app/tsconfig.json`: `nodenext`, as in projects of `nest new`. */
const NODENEXT = [];
/** As `nest new` of NestJS 11.0 set it. This resolution reads no `exports`. */
const NODE10 = ['--module', 'commonjs', '--moduleResolution', 'node10'];

/** Each is compiled and run once for each set of options. */
export const APPS = [
  {
    name: `NestJS ${OLDEST}, CommonJS`,
    type: 'commonjs',
    dependencies: OLDEST_NESTJS,
    tscOptions: [NODE10, NODENEXT],
    isInShortForm: true,
  },
  { name: 'NestJS 11, ES modules', type: 'module', dependencies: NESTJS_11, tscOptions: [NODENEXT] },
  {
    name: 'NestJS 12, ES modules',
    type: 'module',
    dependencies: NESTJS_12,
    tscOptions: [NODENEXT],
    isInShortForm: true,
  },
  { name: 'NestJS 12, CommonJS', type: 'commonjs', dependencies: NESTJS_12, tscOptions: [NODENEXT] },
];

/** Writes an application, not yet installed, into a folder. */
export function layOut({ type, dependencies }, folder, tarball) {
  cpSync(fileURLToPath(new URL('empty-app', import.meta.url)), folder, { recursive: true });
  const file = join(folder, 'package.json');
  const common = JSON.parse(readFileSync(file, 'utf8'));
  const all = { ...common.dependencies, ...dependencies, 'nestjs-session-auth': `file:${tarball}` };
  writeFileSync(file, JSON.stringify({ ...common, type, dependencies: all }, undefined, 2));
}
