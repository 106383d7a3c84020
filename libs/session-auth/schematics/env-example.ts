import type { Tree } from '@angular-devkit/schematics';
import { KEYS } from './registration.js';

const FILE = '.env.example';
/** Nothing here is a secret, and nothing here works: an application that takes it over as it is does not start. */
const LINES = [
  { key: KEYS.url, comment: '# Root of the session service, without /authentication: https://sessions.example.com/api' },
  { key: KEYS.apiKey, comment: '# The key of this application at the session service.' },
];

/** Shows the two variables in .env.example, where they are missing. `.env` itself is the user's. */
export function addEnvExample(tree: Tree): void {
  const before = tree.exists(FILE) ? tree.readText(FILE) : '';
  const missing = LINES.filter(({ key }) => !new RegExp(`^[#\\s]*(export\\s+)?${key}\\s*=`, 'm').test(before));
  if (missing.length === 0) return;
  const gap = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  const text = before + gap + missing.map(({ key, comment }) => `${comment}\n${key}=\n`).join('');
  if (tree.exists(FILE)) tree.overwrite(FILE, text);
  else tree.create(FILE, text);
}
