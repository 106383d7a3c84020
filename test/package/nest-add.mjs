// Runs `npx nest add nestjs-session-auth` in an application, as a new user would.
import assert from 'node:assert/strict';
import { output } from './steps.mjs';

/** The surroundings of a user who has set nothing yet. */
export const UNSET = { ...process.env, SESSION_SERVICE_URL: undefined, SESSION_SERVICE_API_KEY: undefined };

/** Adds the package of a local registry. */
export async function nestAdd(folder, registry, ...options) {
  const said = await runNestAdd(folder, registry, ...options);
  assert.match(said, /SessionAuthModule is registered in src\/app[.]module[.]ts/);
}

export function runNestAdd(folder, registry, ...options) {
  return output(folder, 'npx', ['nest', 'add', 'nestjs-session-auth', ...options], {
    ...UNSET,
    npm_config_registry: registry,
  });
}
