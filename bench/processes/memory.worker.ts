import 'reflect-metadata';
import { HttpModule, HttpService } from '@nestjs/axios';
import { NestFactory } from '@nestjs/core';
import { SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { firstValueFrom } from 'rxjs';
import { request } from 'undici';
import { token } from '../users.js';
import { callHeaders } from '../variants/presented.js';
import { serve } from './serve.js';

/** Ways to remember a session. */
export type MemoryKind = 'ours' | 'parsedJson' | 'wholeResponse';

interface Memory {
  remember(token: string): Promise<unknown>;
  close(): Promise<void>;
}

const MEMORIES: Record<MemoryKind, (serviceUrl: string, maxEntries: number) => Promise<Memory>> = {
  ours: async (baseUrl, maxEntries) => {
    const cache = { ttlMs: 300_000, maxEntries };
    const module = SessionAuthModule.forRoot({ baseUrl, apiKey: 'application-key', cache });
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    const sessions = app.get(SessionAuthService);
    return { remember: (presented) => sessions.verify(presented), close: () => app.close() };
  },
  parsedJson: (serviceUrl) => {
    const users = new Map<string, unknown>();
    const ask = async (presented: string): Promise<unknown> => {
      const { body } = await request(`${serviceUrl}/authentication/user_details`, { headers: callHeaders(presented) });
      const user = await body.json();
      users.set(presented, { user, expiresAt: Date.now() + 300_000 });
      return user;
    };
    return Promise.resolve({
      remember: (presented) => Promise.resolve(users.get(presented) ?? ask(presented)),
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
    return { remember: (presented) => Promise.resolve(responses.get(presented) ?? ask(presented)), close: () => app.close() };
  },
};

const CONCURRENT = 100;
let filled: Memory;

/** What the heap holds, and what lies beside it for the heap's objects. */
function bytesInUse(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function rememberAll(memory: Memory, sessions: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < sessions) await memory.remember(token('user', (next += 1) - 1));
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
}

const handlers = {
  /** Bytes for so many remembered sessions: more than a memory of the same kind takes that holds next to nothing. */
  fill: async ({ kind, serviceUrl, sessions }: { kind: MemoryKind; serviceUrl: string; sessions: number }): Promise<number> => {
    const small = await MEMORIES[kind](serviceUrl, 10);
    await rememberAll(small, CONCURRENT);
    const before = bytesInUse();
    await small.close();
    filled = await MEMORIES[kind](serviceUrl, sessions);
    await rememberAll(filled, sessions);
    return bytesInUse() - before;
  },
  /** Asks again for a hundred of them. */
  askAgain: async ({ sessions }: { sessions: number }): Promise<void> => {
    for (let number = 0; number < sessions; number += sessions / 100) await filled.remember(token('user', number));
  },
};

export type MemoryApi = typeof handlers;
serve(handlers);
