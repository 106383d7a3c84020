import { posix } from 'node:path';
import type { Tree } from '@angular-devkit/schematics';
import type { Application } from './application.js';
import { KEYS } from './registration.js';

/** The test of `nest new`: the imports at the top, and a testing module of the root module. */
const GENERATED =
  /^(?<imports>(?:import [^;]+;\r?\n)+)(?<rest>[\s\S]*?\bTest)\s*\.createTestingModule\(\{\s*imports: \[AppModule\],?\s*\}\)\s*\.compile\(\)/;
const REQUEST = /\.get\('\/'\)/;

/**
 * Lines that the test needs in addition. The values are not used: `TestSessions` replaces the session
 * service.
 */
const ADDED = [
  '',
  `process.env.${KEYS.url} ||= 'http://localhost:3100';`,
  `process.env.${KEYS.apiKey} ||= 'key-for-tests';`,
  'const sessions = new TestSessions();',
  '',
];

/**
 * Makes the end-to-end test that `nest new` generated work without a session service, and signs in where the
 * application requires a session. Returns the path of the changed file; `undefined` if there is none, or if
 * it was changed before.
 */
export function prepareEndToEndTest(
  tree: Tree,
  { sourceRoot }: Application,
  protectAllRoutes: boolean,
): string | undefined {
  const path = posix.join(sourceRoot, '../test/app.e2e-spec.ts');
  if (!tree.exists(path)) return undefined;
  const before = tree.readText(path);
  const { index, 0: match, groups } = GENERATED.exec(before) ?? {};
  if (index === undefined || match === undefined || !groups || before.includes('nestjs-session-auth'))
    return undefined;
  const after = before.slice(match.length);
  const { imports = '', rest = '' } = groups;
  const head = [`import { TestSessions } from 'nestjs-session-auth/testing';`, ...ADDED].join('\n');
  const module = `sessions\n      .install(Test.createTestingModule({ imports: [AppModule] }))\n      .compile()`;
  const signedIn = protectAllRoutes ? after.replace(REQUEST, '$&\n      .set(sessions.signInAs())') : after;
  const text = `${imports}${head}${rest.replace(/Test$/, '')}${module}${signedIn}`;
  tree.overwrite(path, before.includes('\r\n') ? text.replaceAll(/\r?\n/g, '\r\n') : text);
  return path;
}
