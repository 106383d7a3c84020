import type { TaskConfigurationGenerator, Tree } from '@angular-devkit/schematics';

const FILE = 'package.json';
/** Packages that the session check needs on every version of Nest, besides those of Nest. */
const COMMON_PACKAGES = { axios: '^1.17.0', 'class-transformer': '^0.5.1', 'class-validator': '^0.15.0' };

type Kind = 'dependencies' | 'devDependencies' | 'peerDependencies' | 'optionalDependencies';
type Manifest = Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>>;

/** Adds the missing dependencies to package.json, and returns their names. */
export function addPackages(tree: Tree): string[] {
  const text = tree.readText(FILE);
  const manifest = JSON.parse(text) as Manifest;
  const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest;
  const present = { ...dependencies, ...devDependencies, ...peerDependencies, ...optionalDependencies };
  const ofNest = majorOfNest(tree, present) === '11' ? '^4.0.0' : '^12.0.0';
  const needed = { '@nestjs/axios': ofNest, '@nestjs/config': ofNest, ...COMMON_PACKAGES };
  const missing = Object.entries(needed).filter(([name]) => !(name in present));
  if (missing.length === 0) return [];
  const all = Object.entries({ ...dependencies, ...Object.fromEntries(missing) }).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  tree.overwrite(FILE, serialize({ ...manifest, dependencies: Object.fromEntries(all) }, text));
  return missing.map(([name]) => name);
}

/** Of the installed Nest; if it is not installed, of the range in package.json. */
function majorOfNest(tree: Tree, ranges: Readonly<Record<string, string>>): string | undefined {
  const installed = 'node_modules/@nestjs/core/package.json';
  const version = tree.exists(installed)
    ? (tree.readJson(installed) as { readonly version?: string }).version
    : ranges['@nestjs/core'];
  return /\d+/.exec(version ?? '')?.[0];
}

function serialize(manifest: Manifest, before: string): string {
  const indent = /^[ \t]+/m.exec(before)?.[0] ?? 2;
  const text = JSON.stringify(manifest, undefined, indent) + (before.endsWith('\n') ? '\n' : '');
  return before.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}

/** The schematics CLI detects npm, yarn and pnpm by their lock files, but not Bun. */
export function installation(tree: Tree): TaskConfigurationGenerator<object> {
  const isBun = tree.exists('bun.lock') || tree.exists('bun.lockb');
  const options = {
    command: 'install',
    quiet: true,
    hideOutput: true,
    ...(isBun ? { packageManager: 'bun' } : {}),
  };
  return { toConfiguration: () => ({ name: 'node-package', options }) };
}
