#!/usr/bin/env node
import '../../session-auth/src/contract/supported-node.js';
import { runCommand } from './run-command.js';

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interruption.abort());
// A reader that closes the pipe, such as `head`, must not end the command before it has tidied up.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

const { stdout, stderr, env } = process;
process.exitCode = await runCommand(process.argv.slice(2), {
  stdout,
  stderr,
  env,
  interrupted: interruption.signal,
});
