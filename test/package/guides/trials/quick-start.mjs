import { equal } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { listening, trial } from './support.mjs';

const [signedIn, outage] = createRequire(import.meta.url)('../pages/quick-start/transcripts.json');

/** Tokens are random. A command of the guide sends the token that the sign-in before it returned. */
const TOKEN = /test-[0-9a-f-]{36}/g;
let token = 'none';

/** Enters each command of a transcript, and compares its output with the guide. */
async function follow(transcript, url) {
  const steps = transcript.split(/^\$ /m).slice(1);
  for (const step of steps) {
    const [command, ...printed] = step.trim().split('\n');
    const typed = command
      .replace('curl', 'curl --silent --show-error')
      .replace('localhost:3000', url)
      .replace(TOKEN, token);
    const { stdout } = await promisify(execFile)('sh', ['-c', typed]);
    [token = token] = stdout.match(TOKEN) ?? [];
    equal(stdout.trim(), printed.join('\n').trim().replace(TOKEN, token), command);
  }
  return steps.length;
}

await trial('quick start', async () => {
  // The command of the guide, on a free port.
  const command = 'node_modules/.bin/nestjs-session-auth-cli dev --user ann:ann-demo:hiring_manager --port 0';
  const service = spawn(process.execPath, command.split(' '), { stdio: ['ignore', 'pipe', 'inherit'] });
  const [greeting] = await once(service.stdout, 'data');
  process.env.SESSION_SERVICE_URL = /http:\S+/.exec(String(greeting))[0];
  process.env.SESSION_SERVICE_API_KEY = 'your-application-key';

  const { AppModule } = await import('../dist/quick-start/src/app.module.js');
  const { app, url } = await listening(await NestFactory.create(AppModule, { logger: ['error', 'warn'] }));
  try {
    equal(await follow(signedIn, url), 7);
    service.kill();
    await once(service, 'exit');
    equal(await follow(outage, url), 1);
  } finally {
    service.kill();
    await app.close();
  }
});
