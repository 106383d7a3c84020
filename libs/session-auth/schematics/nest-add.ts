import type { Rule } from '@angular-devkit/schematics';
import { readApplication } from './application.js';
import { prepareEndToEndTest } from './e2e-test.js';
import { addEnvExample } from './env-example.js';
import { saying } from './next-steps.js';
import { register, type Wish } from './outcome.js';
import { addPackages, installation } from './packages.js';
import { reportText } from './report.js';

interface NestAddOptions extends Wish {
  readonly sourceRoot?: string;
  /** Flag of the Nest CLI, which passes it in more than one form. */
  readonly skipInstall?: unknown;
}

/** Runs on `nest add nestjs-session-auth`, after the package is installed. */
export function nestAdd({ sourceRoot, skipInstall, ...wish }: NestAddOptions): Rule {
  return (tree, context) => {
    const application = readApplication(tree, sourceRoot);
    const outcome = register(tree, application, wish);
    addEnvExample(tree);
    const added = addPackages(tree);
    const [installed, notInstalled] = skipInstall ? [[], added] : [added, []];
    const dependencies = installed.length > 0 ? [context.addTask(installation(tree))] : [];
    const { protectAllRoutes } = wish;
    const test = outcome.kind === 'registered' ? prepareEndToEndTest(tree, application, protectAllRoutes) : undefined;
    const report = { outcome, protectAllRoutes, typed: !application.isJavaScript, test, notInstalled };
    context.addTask(saying(reportText(report)), dependencies);
  };
}
