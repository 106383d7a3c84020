// Resolves the packages of NestJS from test/nest-11, for `node --import`.
import { readFileSync } from 'node:fs';
import { register } from 'node:module';

const folder = new URL('../../test/nest-11/', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'));
const hooks = `const packages = ${JSON.stringify(Object.keys(dependencies))};
export function resolve(name, context, next) {
  const isNest = packages.some((each) => name === each || name.startsWith(each + '/'));
  return next(name, isNest ? { ...context, parentURL: ${JSON.stringify(String(new URL('package.json', folder)))} } : context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
