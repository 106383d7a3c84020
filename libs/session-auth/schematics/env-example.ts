import type { Tree } from '@angular-devkit/schematics';
import { KEYS } from './registration.js';

const FILE = '.env.example';
/**
 * The values are empty: they contain no secret, and an application that copies the file unchanged does not
 * start.
 */
const LINES = [
  {
    key: KEYS.url,
    comment: '# Root of the session service, without /authentication: https://sessions.example.com/api',
  },
  { key: KEYS.apiKey, comment: '# The key of this application at the session service.' },
];

/** Adds the missing variables to .env.example. Does not change `.env`, which belongs to the user. */
export function addEnvExample(tree: Tree): void {
  const before = tree.exists(FILE) ? tree.readText(FILE) : '';
  const missing = LINES.filter(
    ({ key }) => !new RegExp(`^[#\\s]*(export\\s+)?${key}\\s*=`, 'm').test(before),
  );
  if (missing.length === 0) return;
  const separator = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  const text = before + separator + missing.map(({ key, comment }) => `${comment}\n${key}=\n`).join('');
  if (tree.exists(FILE)) tree.overwrite(FILE, text);
  else tree.create(FILE, text);
}
