import type { Rule } from '@angular-devkit/schematics';
import { fileWithGuard, readApplication } from './application.js';
import { prepareEndToEndTest } from './e2e-test.js';
import { addEnvExample } from './env-example.js';
import { register, type Wish } from './outcome.js';
import { addPackages, installation } from './packages.js';
import { reportText } from './report.js';
import { ownTypeScript } from './source.js';

interface NestAddOptions extends Omit<Wish, 'protectAllRoutes'> {
  /** By default, `true` unless the application has a guard of its own. */
  readonly protectAllRoutes?: boolean;
  readonly sourceRoot?: string;
  /** Flag of the Nest CLI, which passes it in more than one form. */
  readonly skipInstall?: unknown;
}

/** Runs on `nest add nestjs-session-auth`, after the package is installed. */
export function nestAdd({
  sourceRoot,
  skipInstall,
  protectAllRoutes: wished,
  ...others
}: NestAddOptions): Rule {
  return (tree, context) => {
    const application = readApplication(tree, sourceRoot);
    const guard = wished === undefined ? fileWithGuard(ownTypeScript(), tree, application) : undefined;
    const decided = wished ?? guard === undefined;
    const outcome = register(tree, application, { ...others, protectAllRoutes: decided });
    // A registration that is there already may protect the routes.
    const protectAllRoutes = outcome.kind === 'present' ? (wished ?? false) : decided;
    const envExample = addEnvExample(tree);
    const added = addPackages(tree);
    const [installed, notInstalled] = skipInstall ? [[], added] : [added, []];
    const dependencies = installed.length > 0 ? [context.addTask(installation(tree))] : [];
    const test =
      outcome.kind === 'registered' ? prepareEndToEndTest(tree, application, protectAllRoutes) : undefined;
    const report = {
      outcome,
      protectAllRoutes,
      isByDefault: wished === undefined,
      guard,
      typed: !application.isJavaScript,
      test,
      envExample,
      notInstalled,
    };
    const options = { name: 'next-steps', options: { text: reportText(report) } };
    context.addTask({ toConfiguration: () => ({ name: 'run-schematic', options }) }, dependencies);
  };
}

/** Logs the next steps. A separate schematic, because only a task can run after the installation. */
export function nextSteps({ text }: { readonly text: string }): Rule {
  return (_tree, { logger }) => logger.info(text);
}
