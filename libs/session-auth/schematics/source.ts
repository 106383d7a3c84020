import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Tree } from '@angular-devkit/schematics';
import type ts from 'typescript';

export type TypeScript = typeof ts;

/** A file of the project, parsed by the project's compiler. */
export interface Source {
  readonly ts: TypeScript;
  readonly path: string;
  readonly file: ts.SourceFile;
}

function isUsable(compiler: Partial<TypeScript>): compiler is TypeScript {
  return compiler.createSourceFile !== undefined && compiler.transpileModule !== undefined;
}

/** Returns the project's compiler; `undefined` if there is none, or if it has no usable API. */
export function ownTypeScript(): TypeScript | undefined {
  try {
    const compiler = createRequire(join(process.cwd(), 'package.json'))('typescript') as Partial<TypeScript>;
    return isUsable(compiler) ? compiler : undefined;
  } catch {
    return undefined;
  }
}

/** Invalid UTF-8 becomes U+FFFD rather than an error, because most files are only searched. */
export function textOf(tree: Tree, path: string): string {
  return tree.read(path)?.toString('utf8') ?? '';
}

export function readSource(ts: TypeScript, tree: Tree, path: string): Source {
  return { ts, path, file: ts.createSourceFile(path, textOf(tree, path), ts.ScriptTarget.Latest, true) };
}

export function isValid(ts: TypeScript, text: string): boolean {
  return ts.transpileModule(text, { reportDiagnostics: true }).diagnostics?.length === 0;
}

export function findNode<Found extends ts.Node>(
  { ts, file }: Source,
  matches: (node: ts.Node) => node is Found,
): Found | undefined {
  const search = (node: ts.Node): Found | undefined => (matches(node) ? node : ts.forEachChild(node, search));
  return ts.forEachChild(file, search);
}

/** The import declarations of a file, with the packages or files that they import from. */
export function importDeclarations({
  ts,
  file,
}: Source): { readonly declaration: ts.ImportDeclaration; readonly from: string }[] {
  return file.statements.flatMap((declaration) =>
    ts.isImportDeclaration(declaration) && ts.isStringLiteral(declaration.moduleSpecifier)
      ? [{ declaration, from: declaration.moduleSpecifier.text }]
      : [],
  );
}

/** The lists of named imports from a package, without type-only declarations. */
export function importLists(source: Source, from: string): ts.NodeArray<ts.ImportSpecifier>[] {
  const { ts } = source;
  return importDeclarations(source).flatMap(({ declaration: { importClause }, from: specifier }) => {
    const bindings = importClause?.namedBindings;
    if (specifier !== from || !bindings || ts.isTypeOnlyImportDeclaration(importClause)) return [];
    return ts.isNamedImports(bindings) ? [bindings.elements] : [];
  });
}

/** `undefined` if the file does not import it as a value. */
export function localName(source: Source, exported: string, from: string): string | undefined {
  const imported = importLists(source, from).flat();
  return imported.find(
    ({ name, propertyName, isTypeOnly }) => !isTypeOnly && (propertyName ?? name).text === exported,
  )?.name.text;
}

export function findCall(
  source: Source,
  owner: { name: string; from: string },
  methods: readonly string[],
): ts.CallExpression | undefined {
  const { ts } = source;
  const local = localName(source, owner.name, owner.from);
  return findNode(source, (node): node is ts.CallExpression => {
    if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
    const { expression, name } = node.expression;
    return ts.isIdentifier(expression) && expression.text === local && methods.includes(name.text);
  });
}
