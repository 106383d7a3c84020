import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { SessionAuthGuard, SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import type { MemoryUse, Probe, ProbedSettings } from './probed-app.js';

const [platform, settings] = process.argv.slice(2) as [string, string];
const { baseUrl, options } = JSON.parse(settings) as ProbedSettings;

@Controller()
class MeController {
  @Get('me')
  @UseGuards(SessionAuthGuard)
  me(): string {
    return 'in';
  }
}

@Module({
  imports: [SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', ...options })],
  controllers: [MeController],
})
class ProbedModule {}

/** Loads one platform alone: a process starts sooner. */
async function adapterOf(name: string): Promise<AbstractHttpAdapter> {
  if (name === 'Fastify') return new (await import('@nestjs/platform-fastify')).FastifyAdapter();
  return new (await import('@nestjs/platform-express')).ExpressAdapter();
}

const app = await NestFactory.create(ProbedModule, await adapterOf(platform), { logger: false });
await app.listen(0, '127.0.0.1');

function memory(): MemoryUse {
  globalThis.gc?.();
  return { heapBytes: process.memoryUsage().heapUsed, peakRssBytes: process.resourceUsage().maxRSS * 1024 };
}

/** Checks unknown tokens, some at once, and says how often each outcome came. */
async function flood(tokens: number): Promise<Record<string, number>> {
  const sessions = app.get(SessionAuthService);
  const outcomes: Record<string, number> = {};
  let asked = 0;
  const one = async (): Promise<void> => {
    while (asked < tokens) {
      const token = createHash('sha256')
        .update(`bad ${(asked += 1)}`)
        .digest('base64url');
      const outcome = await sessions.verify(token).then(
        () => 'accepted',
        (error: unknown) => (error as { code: string }).code,
      );
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 64 }, one));
  return outcomes;
}

const probes: Record<Probe['name'], (argument: number) => unknown> = {
  memory,
  flood,
  // Nothing ends this process afterwards: it has to end by itself.
  close: () => app.close(),
};

process.on('message', ({ name, argument }: Probe) => {
  void Promise.resolve(probes[name](argument)).then((result) => process.send?.({ result }));
});
process.channel?.unref();
process.send?.({ result: await app.getUrl() });
