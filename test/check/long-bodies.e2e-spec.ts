import { gzipSync } from 'node:zlib';
import { describe, expect } from '@jest/globals';
import { platforms } from '../support/platforms.js';
import { json, reply, type Script } from '../support/scripted-service.js';
import { rowsOn } from '../support/trial/row.js';
import { startProbedApp } from '../support/trial/probed-app.js';
import { ANN, type Trial } from '../support/trial/trial.js';

const RECORD = JSON.stringify(ANN);
const raw = (body: string): Script => reply(200, body, { 'content-type': 'application/json' });
const MIB = 1024 * 1024;

describe.each(platforms('Express'))('bodies that are too long on %s', (name, platform) => {
  const row = rowsOn(platform);

  /**
   * The replies of this application, and how much the memory of one in a separate process grows by ten such
   * answers, at its highest.
   */
  async function growthBy(trial: Trial, scripts: readonly Script[]): Promise<number> {
    const app = trial.keep(await startProbedApp(name, trial.service.url, { breaker: false }));
    const ask = async (script: Script, status: number): Promise<void> => {
      trial.service.on('user_details', script);
      expect((await fetch(`${app.url}/me`, { headers: { 'x-auth-token': 'token' } })).status).toBe(status);
    };
    for (let time = 0; time < 150; time += 1) {
      await ask(json(ANN), 200);
      await ask(raw(RECORD.padEnd(70_000)), 503);
    }
    const before = (await app.memory()).peakRssBytes;
    for (let time = 0; time < 10; time += 1) for (const script of scripts) await ask(script, 503);
    const growth = (await app.memory()).peakRssBytes - before;
    for (const script of scripts) {
      trial.service.on('user_details', script);
      expect(await trial.status()).toBe(503);
    }
    return growth;
  }

  const endless: Script = (_request, response) => {
    const chunk = Buffer.alloc(65_536, ' ');
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.on('drain', write).on('close', () => response.destroy());
    write();
  };

  row(
    'a body beyond maxResponseBytes, declared or in chunks, becomes 503 and is not buffered: memory grows by less than 8 MiB [C09]',
    async (trial) => {
      const declared = raw(RECORD.padEnd(20 * MIB));
      expect(await growthBy(trial, [declared, endless])).toBeLessThan(8 * MIB);
    },
  );

  row(
    'a gzip bomb of 50 MiB becomes 503 and is not unpacked: memory grows by less than 16 MiB [C10]',
    async (trial) => {
      const bomb = gzipSync(Buffer.alloc(50 * MIB, ' '));
      const coded = reply(200, bomb, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      expect(await growthBy(trial, [coded])).toBeLessThan(16 * MIB);
    },
  );
});
