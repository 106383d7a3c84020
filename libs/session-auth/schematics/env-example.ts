import type { Tree } from '@angular-devkit/schematics';
import { KEYS } from './registration.js';

const USUAL = '.env.example';
const OTHER = /^[.]?env[.-](?:example|sample|template|dist)$|^(?:example|sample)[.]env$/;
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

/**
 * Adds the missing variables to the file that shows them: .env.example, or as the project names it. Does not
 * change `.env`, which belongs to the user. Returns the name of the file.
 */
export function addEnvExample(tree: Tree): string {
  const other = tree.exists(USUAL) ? undefined : tree.root.subfiles.find((name) => OTHER.test(name));
  const file = other ?? USUAL;
  const before = tree.exists(file) ? tree.readText(file) : '';
  const missing = LINES.filter(
    ({ key }) => !new RegExp(`^[#\\s]*(export\\s+)?${key}\\s*=`, 'm').test(before),
  );
  if (missing.length === 0) return file;
  const separator = before === '' ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  const text = before + separator + missing.map(({ key, comment }) => `${comment}\n${key}=\n`).join('');
  if (tree.exists(file)) tree.overwrite(file, text);
  else tree.create(file, text);
  return file;
}
