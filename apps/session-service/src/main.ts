import { optionsFromEnvironment } from './environment.js';
import { startReferenceService } from './start-reference-service.js';

try {
  const service = await startReferenceService({ ...optionsFromEnvironment(process.env), logger: ['warn', 'error', 'fatal'] });
  process.stdout.write(`session-service: listening on ${service.url}\n`);

  const stop = (signal: NodeJS.Signals): void => {
    process.stdout.write(`session-service: stopping on ${signal}\n`);
    void service.close();
  };
  // Once: a second signal ends the process at once.
  process.once('SIGTERM', stop).once('SIGINT', stop);
} catch (error) {
  process.stderr.write(`session-service: ${error instanceof Error ? error.message : 'unknown failure'}\n`);
  process.exit(1);
}
