// Lists what the short form of the end-to-end tests left out in the last run: LONG_TESTS=1 runs it too.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WEEKLY } from '../jest.config.mjs';

const folder = fileURLToPath(new URL('../dist/left-out/', import.meta.url));
const files = existsSync(folder) ? readdirSync(folder).sort() : [];
for (const file of files) {
  const lines = [...new Set(readFileSync(`${folder}${file}`, 'utf8').trim().split('\n'))].sort();
  console.log(
    `\nLeft out by the short form on ${file.replace('nest-', 'NestJS ').replace('.txt', '')} (LONG_TESTS=1 runs it):`,
  );
  for (const line of lines) console.log(`  ${line}`);
}
if (process.env.LONG_TESTS !== '1') {
  console.log('\nLeft to the long form as a whole:');
  for (const name of WEEKLY) console.log(`  test/${name}.e2e-spec.ts`);
}
