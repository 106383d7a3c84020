import 'reflect-metadata';
import { HttpModule, HttpService } from '@nestjs/axios';
import { NestFactory } from '@nestjs/core';
import { SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { request } from 'undici';
import { token } from '../users.js';
import { callHeaders } from '../variants/presented.js';
import { serve } from './serve.js';

/** Kinds of session caches. */
export type CacheKind = 'ours' | 'parsedJson' | 'wholeResponse';

interface Cache {
  find(token: string): Promise<unknown>;
  close(): Promise<void>;
}

const CACHES: Record<CacheKind, (serviceUrl: string, maxEntries: number) => Promise<Cache>> = {
  ours: async (baseUrl, maxEntries) => {
    const cache = { ttlMs: 300_000, maxEntries };
    const module = SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', cache });
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    const sessions = app.get(SessionAuthService);
    return { find: (presented) => sessions.verify(presented), close: () => app.close() };
  },
  parsedJson: (serviceUrl) => {
    const users = new Map<string, unknown>();
    const ask = async (presented: string): Promise<unknown> => {
      const { body } = await request(`${serviceUrl}/authentication/user_details`, {
        headers: callHeaders(presented),
      });
      const user = await body.json();
      users.set(presented, { user, expiresAt: Date.now() + 300_000 });
      return user;
    };
    return Promise.resolve({
      find: (presented) => Promise.resolve(users.get(presented) ?? ask(presented)),
      close: () => Promise.resolve(),
    });
  },
  wholeResponse: async (serviceUrl) => {
    const app = await NestFactory.createApplicationContext(HttpModule, { logger: false });
    const http = app.get(HttpService);
    const responses = new Map<string, unknown>();
    const ask = async (presented: string): Promise<unknown> => {
      const url = `${serviceUrl}/authentication/user_details`;
      const response = await firstValueFrom(http.get<object>(url, { headers: callHeaders(presented) }));
      responses.set(presented, { response, expiresAt: Date.now() + 300_000 });
      return response;
    };
    return {
      find: (presented) => Promise.resolve(responses.get(presented) ?? ask(presented)),
      close: () => app.close(),
    };
  },
};

const CONCURRENT = 100;
let filled: Cache;

/** Returns the bytes of the heap, and of external memory that belongs to its objects. */
function bytesInUse(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function findAll(cache: Cache, sessions: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < sessions) await cache.find(token('user', (next += 1) - 1));
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
}

const handlers = {
  /**
   * Returns the bytes of a number of cached sessions: the use of memory with a full cache, less that with a
   * nearly empty one of the same kind.
   */
  fill: async ({
    kind,
    serviceUrl,
    sessions,
  }: {
    kind: CacheKind;
    serviceUrl: string;
    sessions: number;
  }): Promise<number> => {
    const small = await CACHES[kind](serviceUrl, 10);
    await findAll(small, CONCURRENT);
    const before = bytesInUse();
    await small.close();
    filled = await CACHES[kind](serviceUrl, sessions);
    await findAll(filled, sessions);
    return bytesInUse() - before;
  },
  /** Checks a hundred of them again. */
  askAgain: async ({ sessions }: { sessions: number }): Promise<void> => {
    for (let number = 0; number < sessions; number += sessions / 100)
      await filled.find(token('user', number));
  },
};

export type MemoryApi = typeof handlers;
serve(handlers);
