import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import ts from 'typescript';

/** The decorators of routes, and the method of their requests. */
const ROUTES = { Get: 'GET', Sse: 'GET', Post: 'POST', Put: 'PUT', Patch: 'PATCH', Delete: 'DELETE' };
const SHOWN_API_DECORATORS = ['ApiSessionAuth'];

/**
 * Reads the declaration of each route from the controllers in a folder, by method and path: `GET /api/me`.
 */
export function readRouteSources(folder) {
  const files = ts.sys.readDirectory(folder, ['.ts'], undefined, ['**/*.controller.ts']).sort();
  return Object.fromEntries(files.flatMap(routesOfFile));
}

function routesOfFile(path) {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  return file.statements
    .filter(ts.isClassDeclaration)
    .flatMap((controller) => routesOfClass(file, controller));
}

function routesOfClass(file, controller) {
  const prefix = decoratorsOf(controller).find(({ name }) => name === 'Controller');
  if (!prefix) return [];
  return controller.members.filter(ts.isMethodDeclaration).flatMap((method) =>
    decoratorsOf(method)
      .filter(({ name }) => name in ROUTES)
      .map((route) => [
        `${ROUTES[route.name]} /${[prefix.path, route.path].filter(Boolean).join('/')}`,
        { file: basename(file.fileName), source: sourceOf(file, controller, method) },
      ]),
  );
}

function sourceOf(file, controller, method) {
  return [
    ...shownDecorators(file, controller),
    `export class ${controller.name.text} {`,
    ...shownDecorators(file, method).map((line) => `  ${line}`),
    `  ${bodyOf(file, method)}`,
    '}',
  ].join('\n');
}

function shownDecorators(file, node) {
  return decoratorsOf(node)
    .filter(({ name }) => !name.startsWith('Api') || SHOWN_API_DECORATORS.includes(name))
    .map(({ node: decorator }) => decorator.getText(file));
}

/** The source of the method, without its decorators. */
function bodyOf(file, method) {
  const start = Math.max(...decoratorsOf(method).map(({ node }) => node.end));
  return file.text.slice(start, method.end).trim();
}

function decoratorsOf(node) {
  return (ts.getDecorators(node) ?? []).map((decorator) => {
    const { expression } = decorator;
    const [first] = ts.isCallExpression(expression) ? expression.arguments : [];
    return {
      node: decorator,
      name: (ts.isCallExpression(expression) ? expression.expression : expression).getText(),
      path: first && ts.isStringLiteral(first) ? first.text : '',
    };
  });
}
