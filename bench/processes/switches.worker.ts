import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { variant } from '../variants/ours.js';
import { sampleApp } from '../variants/sample-app.js';
import { LONG_CACHE, type Switch } from '../variants/variant.js';
import { serve } from './serve.js';

const REQUESTS = 200;
/** Until V8 has compiled what a request runs. */
const WARM_UP_ROUNDS = 50;

/** An application with a switch. All are in this process: what slows the machine down slows them all down. */
interface Contender {
  readonly name: Switch | 'none';
  readonly app: NestFastifyApplication;
  readonly headers: Readonly<Record<string, string>>;
}

const contenders: Contender[] = [];

/** Microseconds of processor time of one request, without a network. */
async function usPerRequest({ app, headers }: Contender): Promise<number> {
  const before = process.cpuUsage();
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const { statusCode } = await app.inject({ method: 'GET', url: '/openings', headers });
    if (statusCode !== 200) throw new Error(`the application answered ${statusCode}`);
  }
  // Lets the event loop free the remains of the requests.
  await new Promise(setImmediate);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
}

const handlers = {
  /** Starts an application for each switch, and caches the session. */
  start: async ({
    serviceUrl,
    token,
    switches,
  }: {
    serviceUrl: string;
    token: string;
    switches: readonly Contender['name'][];
  }): Promise<void> => {
    for (const name of switches) {
      const parts = variant({ serviceUrl, cache: LONG_CACHE, ...(name !== 'none' && { switchedOn: name }) });
      const app = await NestFactory.create<NestFastifyApplication>(sampleApp(parts), new FastifyAdapter(), {
        logger: false,
        abortOnError: false,
      });
      await app.init();
      contenders.push({
        name,
        app,
        headers: name === 'cookie' ? { cookie: `session=${token}` } : { 'x-auth-token': token },
      });
    }
    for (const contender of contenders)
      for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await usPerRequest(contender);
  },
  /** Lets each application answer some requests. */
  round: async (): Promise<Readonly<Record<string, number>>> => {
    const times: Record<string, number> = {};
    for (const contender of contenders) times[contender.name] = await usPerRequest(contender);
    contenders.push(...contenders.splice(0, 1));
    return times;
  },
};

export type SwitchesApi = typeof handlers;
serve(handlers);
