import { optionsFromEnvironment } from './environment.js';
import { startReferenceService } from './start-reference-service.js';

/** Longer than the service takes to close, unless its database does not respond. */
const EXIT_DEADLINE_MS = 6000;

try {
  const service = await startReferenceService({
    ...optionsFromEnvironment(process.env),
    logger: ['warn', 'error', 'fatal'],
  });
  const stop = (signal: NodeJS.Signals): void => {
    process.stdout.write(`session-service: stopping on ${signal}\n`);
    void service.close();
    setTimeout(() => process.exit(0), EXIT_DEADLINE_MS).unref();
  };
  // Only once, so that a second signal terminates the process immediately.
  process.once('SIGTERM', stop).once('SIGINT', stop);
  // On every address of the machine, the URL is one of several.
  const bound = service.url.endsWith(`//${service.address}`) ? '' : `, bound to ${service.address}`;
  process.stdout.write(`session-service: listening on ${service.url}${bound}\n`);
} catch (error) {
  process.stderr.write(`session-service: ${error instanceof Error ? error.message : 'unknown error'}\n`);
  process.exit(1);
}
