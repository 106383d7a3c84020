import { explainStartFailure } from './settings/explain-start-failure.js';
import { type RunningDemo, startDemo } from './start-demo.js';

try {
  const demo = await startDemo();
  printGreeting(demo);
  stopOnSignal(demo);
} catch (error) {
  const explanation = explainStartFailure(error);
  if (explanation === undefined) throw error;
  console.error(explanation);
  process.exitCode = 1;
}

function printGreeting({ url, users }: RunningDemo): void {
  const hint =
    users.length > 0
      ? `; sign in as ${users.map((user) => `${user.username} / ${user.password}`).join(', ')}`
      : '';
  console.log(`The demo is at ${url} (API at ${url}/docs)${hint}`);
}

function stopOnSignal(demo: RunningDemo): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void demo.close());
  }
}
