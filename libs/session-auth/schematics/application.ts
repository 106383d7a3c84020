import { posix } from 'node:path';
import type { DirEntry, Tree } from '@angular-devkit/schematics';
import type ts from 'typescript';
import { findCall, findNode, readSource, textOf, type Source, type TypeScript } from './source.js';

const NOT_SOURCES = /(^|\/)(node_modules|dist|[.][^/]+)$/;
const OF_GUARDS = new Set(['APP_GUARD', 'CanActivate', 'UseGuards', 'useGlobalGuards']);
const ANY_SOURCE = /(?<![.](?:d|spec|test|e2e-spec))[.][cm]?[jt]s$/;
const SOURCE = /(?<![.](?:d|spec|test|e2e-spec))[.]ts$/;

interface NestCliProject {
  readonly type?: string;
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
  /** Folders of the application and of the libraries beside it. */
  readonly folders: readonly string[];
}

export function readApplication(tree: Tree, sourceRootOption: string | undefined): Application {
  const cli = tree.exists('nest-cli.json') ? (tree.readJson('nest-cli.json') as NestCli) : {};
  const sourceRoot = posix.normalize(sourceRootOption ?? cli.sourceRoot ?? 'src');
  const project = Object.values(cli.projects ?? {}).find(
    (one) => one.sourceRoot && posix.normalize(one.sourceRoot) === sourceRoot,
  );
  const main = posix.join(sourceRoot, `${project?.entryFile ?? cli.entryFile ?? 'main'}.ts`);
  const libraries = Object.values(cli.projects ?? {}).filter(({ type }) => type === 'library');
  const folders = [
    sourceRoot,
    ...libraries.flatMap((one) => (one.sourceRoot === undefined ? [] : [posix.normalize(one.sourceRoot)])),
  ];
  return { sourceRoot, main, isJavaScript: cli.language === 'js', folders };
}

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

/** Returns a file that names a guard, or what applies guards. Without a compiler, a comment counts too. */
export function fileWithGuard(
  compiler: TypeScript | undefined,
  tree: Tree,
  { folders }: Application,
): string | undefined {
  const names = new RegExp(`\\b(?:${[...OF_GUARDS].join('|')})\\b`);
  return folders
    .flatMap((folder) => sourcesIn(tree.getDir(folder), ANY_SOURCE))
    .find(
      (path) => names.test(textOf(tree, path)) && (!compiler || isNamed(readSource(compiler, tree, path))),
    );
}

function isNamed(source: Source): boolean {
  const { ts: compiler } = source;
  const isName = (node: ts.Node): node is ts.Node =>
    (compiler.isIdentifier(node) || compiler.isStringLiteralLike(node)) && OF_GUARDS.has(node.text);
  return findNode(source, isName) !== undefined;
}

function sourcesIn(folder: DirEntry, sources = SOURCE): string[] {
  const files = folder.subfiles
    .filter((name) => sources.test(name))
    .map((name) => posix.join(folder.path, name).slice(1));
  const nested = folder.subdirs
    .filter((name) => !NOT_SOURCES.test(name))
    .flatMap((name) => sourcesIn(folder.dir(name), sources));
  return [...files, ...nested];
}
