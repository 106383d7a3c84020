import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Tree } from '@angular-devkit/schematics';
import type ts from 'typescript';

export type TypeScript = typeof ts;

/** A file of the user's, read by the user's own compiler. */
export interface Source {
  readonly ts: TypeScript;
  readonly path: string;
  readonly file: ts.SourceFile;
}

function canRead(compiler: Partial<TypeScript>): compiler is TypeScript {
  return compiler.createSourceFile !== undefined && compiler.transpileModule !== undefined;
}

/** The project's own compiler; none when the project has none, or one without an interface for programs. */
export function ownTypeScript(): TypeScript | undefined {
  try {
    const compiler = createRequire(join(process.cwd(), 'package.json'))('typescript') as Partial<TypeScript>;
    return canRead(compiler) ? compiler : undefined;
  } catch {
    return undefined;
  }
}

/** Text with its byte order mark; what is not UTF-8 becomes U+FFFD in it: many files are looked at, and few are changed. */
export function textOf(tree: Tree, path: string): string {
  return tree.read(path)?.toString('utf8') ?? '';
}

export function readSource(ts: TypeScript, tree: Tree, path: string): Source {
  return { ts, path, file: ts.createSourceFile(path, textOf(tree, path), ts.ScriptTarget.Latest, true) };
}

export function isValid(ts: TypeScript, text: string): boolean {
  return ts.transpileModule(text, { reportDiagnostics: true }).diagnostics?.length === 0;
}

/** The first node, in reading order, that is one. */
export function findNode<Found extends ts.Node>({ ts, file }: Source, isOne: (node: ts.Node) => node is Found): Found | undefined {
  const search = (node: ts.Node): Found | undefined => (isOne(node) ? node : ts.forEachChild(node, search));
  return ts.forEachChild(file, search);
}

/** The lists in braces of what a file imports from a package to be used at run time. */
export function importLists({ ts, file }: Source, from: string): ts.NodeArray<ts.ImportSpecifier>[] {
  return file.statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const clause = statement.importClause;
    if (statement.moduleSpecifier.text !== from || !clause?.namedBindings || ts.isTypeOnlyImportDeclaration(clause)) return [];
    return ts.isNamedImports(clause.namedBindings) ? [clause.namedBindings.elements] : [];
  });
}

/** The name by which a file knows an export of a package, when it imports it. */
export function localName(source: Source, exported: string, from: string): string | undefined {
  const known = importLists(source, from).flat();
  return known.find(({ name, propertyName, isTypeOnly }) => !isTypeOnly && (propertyName ?? name).text === exported)?.name.text;
}

/** The first call of one of a class's methods, where the class is an export of a package. */
export function findCall(source: Source, owner: { name: string; from: string }, methods: readonly string[]): ts.CallExpression | undefined {
  const { ts } = source;
  const local = localName(source, owner.name, owner.from);
  return findNode(source, (node): node is ts.CallExpression => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
    const { expression, name } = node.expression;
    return ts.isIdentifier(expression) && expression.text === local && methods.includes(name.text);
  });
}
