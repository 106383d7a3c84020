import { posix } from 'node:path';
import type { DirEntry, Tree } from '@angular-devkit/schematics';
import { findCall, readSource, textOf, type Source, type TypeScript } from './source.js';

const NOT_SOURCES = /(^|\/)(node_modules|dist|[.][^/]+)$/;
const SOURCE = /(?<![.](?:d|spec|test|e2e-spec))[.]ts$/;

interface NestCliProject {
  readonly sourceRoot?: string;
  readonly entryFile?: string;
}

interface NestCli extends NestCliProject {
  readonly language?: string;
  readonly projects?: Readonly<Record<string, NestCliProject>>;
}

/** The application to which the session check is added. */
export interface Application {
  readonly sourceRoot: string;
  /** The file that calls `NestFactory.create`. */
  readonly main: string;
  readonly isJavaScript: boolean;
}

/** Reads the application from nest-cli.json. */
export function readApplication(tree: Tree, sourceRootOption: string | undefined): Application {
  const cli = tree.exists('nest-cli.json') ? (tree.readJson('nest-cli.json') as NestCli) : {};
  const sourceRoot = posix.normalize(sourceRootOption ?? cli.sourceRoot ?? 'src');
  const project = Object.values(cli.projects ?? {}).find((one) => one.sourceRoot && posix.normalize(one.sourceRoot) === sourceRoot);
  const main = posix.join(sourceRoot, `${project?.entryFile ?? cli.entryFile ?? 'main'}.ts`);
  return { sourceRoot, main, isJavaScript: cli.language === 'js' };
}

/** Returns the source file that calls one of the methods of a class that a package exports. */
export function fileThatCalls(
  { ts, tree, sourceRoot }: { ts: TypeScript; tree: Tree; sourceRoot: string },
  owner: { name: string; from: string },
  methods: readonly string[],
): Source | undefined {
  for (const path of sourcesIn(tree.getDir(sourceRoot))) {
    if (!textOf(tree, path).includes(owner.from)) continue;
    const source = readSource(ts, tree, path);
    if (findCall(source, owner, methods)) return source;
  }
  return undefined;
}

function sourcesIn(folder: DirEntry): string[] {
  const files = folder.subfiles.filter((name) => SOURCE.test(name)).map((name) => posix.join(folder.path, name).slice(1));
  const nested = folder.subdirs.filter((name) => !NOT_SOURCES.test(name)).flatMap((name) => sourcesIn(folder.dir(name)));
  return [...files, ...nested];
}
