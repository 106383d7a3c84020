import { type ReferenceServiceOptions } from './reference-service-options.js';

/** Default of DATA_DIR, seen from the working directory. */
const DEFAULT_DATA_DIR = './data';

/** The options of a service that runs alone, from the environment variables PORT, HOST, DATA_DIR and SESSION_LIFETIME_MS. */
export function optionsFromEnvironment(environment: NodeJS.ProcessEnv): ReferenceServiceOptions {
  const { PORT, HOST, SESSION_LIFETIME_MS } = environment;
  return {
    port: numberFrom(PORT) ?? 3100,
    host: HOST ?? '127.0.0.1',
    dataDir: dataDirFrom(environment),
    ...(SESSION_LIFETIME_MS === undefined ? {} : { sessionLifetimeMs: numberFrom(SESSION_LIFETIME_MS) ?? Number.NaN }),
  };
}

/** The data directory that DATA_DIR names. */
export function dataDirFrom({ DATA_DIR }: NodeJS.ProcessEnv): string {
  return DATA_DIR ?? DEFAULT_DATA_DIR;
}

/** NaN for text that is no number, so that the check of the settings names the option. */
function numberFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
