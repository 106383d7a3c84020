// Checks that a tag can be released: node tools/check-release.mjs v1.2.3
import { readFileSync } from 'node:fs';

const [tag] = process.argv.slice(2);
const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const version = JSON.parse(read('libs/session-auth/package.json')).version;
const commandsVersion = JSON.parse(read('libs/session-auth-cli/package.json')).version;
const workspaceVersion = JSON.parse(read('package.json')).version;
const headings = read('CHANGELOG.md').match(/^## .+$/gm);

const failures = [
  ...(tag === `v${version}`
    ? []
    : [`the tag is ${tag}, and libs/session-auth/package.json has version ${version}`]),
  ...(commandsVersion === version
    ? []
    : [`libs/session-auth-cli/package.json has version ${commandsVersion}, and the library ${version}`]),
  ...(workspaceVersion === version
    ? []
    : [`package.json has version ${workspaceVersion}, and the library ${version}`]),
  ...(headings.some((heading) => heading.split(' ')[1] === version)
    ? []
    : [`CHANGELOG.md has no heading for ${version}`]),
];
if (failures.length > 0) {
  console.error(failures.join('\n'));
  process.exit(1);
}
console.log(`${tag} can be released`);
