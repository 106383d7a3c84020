import { posix } from 'node:path';
import type { Tree } from '@angular-devkit/schematics';
import type ts from 'typescript';
import type { Application } from './application.js';
import {
  findCall,
  importDeclarations,
  localName,
  readSource,
  type Source,
  type TypeScript,
} from './source.js';

const NEST_FACTORY = { name: 'NestFactory', from: '@nestjs/core' };

export interface RootModule {
  readonly source: Source;
  readonly decorator: ts.CallExpression;
}

/**
 * Returns the module of the option `module`, else the module that the application starts, else the one that
 * `nest new` creates.
 */
export function findRootModule(
  ts: TypeScript,
  tree: Tree,
  { sourceRoot, main }: Application,
  option?: string,
): RootModule | undefined {
  const defaultPath = posix.join(sourceRoot, 'app.module.ts');
  if (option !== undefined)
    return moduleIn(ts, tree, [option, posix.join(sourceRoot, option)].flatMap(candidates));
  return startedModule(ts, tree, main) ?? moduleIn(ts, tree, [defaultPath]);
}

function candidates(path: string): string[] {
  return [path, `${path}.ts`, `${path}.module.ts`, posix.join(path, 'index.ts')];
}

function moduleIn(
  ts: TypeScript,
  tree: Tree,
  paths: readonly string[],
  className?: string,
): RootModule | undefined {
  const inProject = paths
    .map((one) => posix.normalize(one))
    .filter((one) => one.endsWith('.ts') && !one.startsWith('..'));
  const path = inProject.find((one) => tree.exists(one));
  if (path === undefined) return undefined;
  const source = readSource(ts, tree, path);
  const modules = source.file.statements.flatMap((statement) => {
    const decorator = ts.isClassDeclaration(statement) ? decoratorOf(source, statement) : undefined;
    return ts.isClassDeclaration(statement) && decorator ? [{ name: statement.name?.text, decorator }] : [];
  });
  const found = modules.length === 1 ? modules[0] : modules.find(({ name }) => name === className);
  return found && { source, decorator: found.decorator };
}

function decoratorOf(source: Source, owner: ts.ClassDeclaration): ts.CallExpression | undefined {
  const { ts } = source;
  const name = localName(source, 'Module', '@nestjs/common');
  const calls = (ts.getDecorators(owner) ?? [])
    .map(({ expression }) => expression)
    .filter((one) => ts.isCallExpression(one));
  return calls.find(({ expression }) => ts.isIdentifier(expression) && expression.text === name);
}

function startedModule(ts: TypeScript, tree: Tree, main: string): RootModule | undefined {
  if (!tree.exists(main)) return undefined;
  const source = readSource(ts, tree, main);
  const call = findCall(source, NEST_FACTORY, ['create', 'createMicroservice', 'createApplicationContext']);
  const className = call?.arguments[0]?.getText().split('.', 1)[0];
  if (className === undefined) return undefined;
  const from = importedFrom(source, className);
  if (from === undefined) return moduleIn(ts, tree, [main], className);
  return from.startsWith('.')
    ? moduleIn(ts, tree, candidates(posix.join(main, '..', from.replace(/[.]js$/, ''))), className)
    : undefined;
}

function importedFrom(source: Source, name: string): string | undefined {
  const found = importDeclarations(source).find(({ declaration }) => {
    const { name: defaultImport, namedBindings } = declaration.importClause ?? {};
    const named = namedBindings && source.ts.isNamedImports(namedBindings) ? namedBindings.elements : [];
    return [defaultImport, ...named.map((one) => one.name)].some((one) => one?.text === name);
  });
  return found?.from;
}
