import type { Outcome } from './outcome.js';
import { entries, importLine, IMPORTS, KEYS, USUAL } from './registration.js';

/** The version of the package, filled in by the build. */
declare const VERSION: string;

export interface Report {
  readonly outcome: Outcome;
  readonly protectAllRoutes: boolean;
  /** Whether the user left `protectAllRoutes` open. */
  readonly isByDefault: boolean;
  /** The file in which the application has a guard of its own. */
  readonly guard: string | undefined;
  readonly typed: boolean;
  /** The path of the end-to-end test that was changed. */
  readonly test: string | undefined;
  readonly envExample: string;
  readonly notInstalled: readonly string[];
}

export function reportText(report: Report): string {
  const steps = [...installSteps(report), ...keySteps(report), ...guardSteps(report)];
  const numbered = steps.map((step, index) => `  ${index + 1}. ${step.replaceAll('\n', '\n     ')}`);
  const guide = 'Guide: node_modules/nestjs-session-auth/README.md';
  return ['', ...outcomeLines(report), '', 'Next steps:', ...numbered, '', guide, ''].join('\n');
}

function outcomeLines({ outcome, protectAllRoutes, typed, test }: Report): string[] {
  const tested = test === undefined ? [] : [`${test} runs with TestSessions, without a session service.`];
  if (outcome.kind === 'registered')
    return [`SessionAuthModule is registered in ${outcome.path}.`, ...tested];
  if (outcome.kind === 'present')
    return [`SessionAuthModule is already registered in ${outcome.path}. Your code is unchanged.`];
  const imports = Object.entries(IMPORTS).map(([from, names]) => importLine(from, names, USUAL));
  const added = entries({ ...USUAL, typed, protectAllRoutes, withConfig: true });
  return [
    `Your code is unchanged: ${outcome.why}.`,
    'Add these lines to the file of your root module:',
    '',
    ...indented(imports.join('\n')),
    '',
    'and these to the `imports` of its @Module() (the first only if there is no ConfigModule.forRoot() yet):',
    '',
    ...indented(`${added.join(',\n')},`),
  ];
}

function indented(lines: string): string[] {
  return lines.split('\n').map((line) => `    ${line}`);
}

function installSteps({ notInstalled }: Report): string[] {
  return notInstalled.length > 0
    ? [`Install the packages that were added to package.json: ${notInstalled.join(', ')}.`]
    : [];
}

function keySteps({ envExample }: Report): string[] {
  return [
    `Set ${KEYS.url} and ${KEYS.apiKey}, in the environment or in .env\n(${envExample} shows them). Without them the application does not start.`,
  ];
}

function guardSteps({ outcome, protectAllRoutes, isByDefault, guard }: Report): string[] {
  const open = 'Every route then requires a session, except routes with @Public().';
  if (protectAllRoutes && outcome.kind === 'present')
    return [`Add \`protectAllRoutes: true\` to it in ${outcome.path}.\n${open}`];
  if (protectAllRoutes && isByDefault)
    return [`${open}\n\`protectAllRoutes: true\` does that: no guard was found in your code.`];
  if (protectAllRoutes) return [open];
  if (guard !== undefined && outcome.kind !== 'present')
    return [
      `Your application has a guard (${guard}), so \`protectAllRoutes\` was left off, and\nthis package guards no route yet. Replace your guard as in\nhttps://github.com/nestjs-session-auth/nestjs-session-auth/blob/v${VERSION}/docs/migration.md`,
    ];
  const lines = [
    importLine('nestjs-session-auth', ['SessionAuthGuard'], USUAL),
    '@UseGuards(SessionAuthGuard)',
  ];
  const otherwise = 'without it, or `protectAllRoutes: true` in the module, a route stays open';
  return [`Guard a controller; ${otherwise}:\n${lines.map((line) => `  ${line}`).join('\n')}`];
}
