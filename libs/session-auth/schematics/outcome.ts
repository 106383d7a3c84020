import type { Tree } from '@angular-devkit/schematics';
import { fileThatCalls, type Application } from './application.js';
import { CannotEdit, registered } from './register.js';
import { findRootModule } from './root-module.js';
import { ownTypeScript, type TypeScript } from './source.js';

export type Outcome =
  | { readonly kind: 'registered'; readonly path: string }
  | { readonly kind: 'present'; readonly path: string }
  | { readonly kind: 'by-hand'; readonly why: string };

export interface Wish {
  readonly module?: string;
  readonly protectAllRoutes: boolean;
}

/** Registers the session check in the root module. Returns the reason if the user has to do it by hand. */
export function register(tree: Tree, application: Application, wish: Wish): Outcome {
  const ts = ownTypeScript();
  if (!ts) return { kind: 'by-hand', why: 'TypeScript 5 or 6 is not installed in this project' };
  const present = fileThatCalls(
    { ts, tree, ...application },
    { name: 'SessionAuthModule', from: 'nestjs-session-auth' },
    ['forRoot', 'forRootAsync'],
  );
  return present ? { kind: 'present', path: present.path } : edit(ts, tree, application, wish);
}

function edit(
  ts: TypeScript,
  tree: Tree,
  application: Application,
  { module, protectAllRoutes }: Wish,
): Outcome {
  const root = findRootModule(ts, tree, application, module);
  if (!root) return { kind: 'by-hand', why: notFound(application, module) };
  const { path } = root.source;
  const config = fileThatCalls(
    { ts, tree, ...application },
    { name: 'ConfigModule', from: '@nestjs/config' },
    ['forRoot'],
  );
  try {
    tree.overwrite(path, registered(root, { withConfig: !config, protectAllRoutes }));
    return { kind: 'registered', path };
  } catch (error) {
    if (!(error instanceof CannotEdit)) throw error;
    return { kind: 'by-hand', why: `${path} can't be edited safely, because ${error.message}` };
  }
}

function notFound({ main, sourceRoot }: Application, module: string | undefined): string {
  const where =
    module === undefined
      ? `neither ${main} nor ${sourceRoot}/app.module.ts leads to one`
      : `${module} has none, or more than one`;
  return `no class with @Module() was found: ${where}. Pass the file as \`--module <file>\``;
}
