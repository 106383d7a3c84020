import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Injectable, Scope, type Type } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import {
  Authorize,
  type SessionAuthEvents,
  type SessionAuthExtras,
  type SessionAuthOptions,
  type SessionAuthService,
  UserRecord,
  type UserRecordSchema,
} from 'nestjs-session-auth';
import { CHECK_CHANNEL } from 'nestjs-session-auth/diagnostics';
import { SessionStore, type StoreEntry } from 'nestjs-session-auth/store';
import type { Misbehaviour } from './application-code-rows.js';

/** In the message of every error here: it must not reach the log, nor a caller. */
export const SECRET = 'postgres://app:hunter2@db';
export const PATIENT_MS = 30_000;

const errorOf = (): Error => new Error(SECRET);
/** Promises that reject when their answer is no longer needed. */
export const late: (() => void)[] = [];

export const MISBEHAVIOURS: Record<Misbehaviour, (good: unknown) => unknown> = {
  throws: () => {
    throw errorOf();
  },
  rejects: () => Promise.reject(errorOf()),
  'rejects late': () => new Promise((_resolve, reject) => late.push(() => reject(errorOf()))),
  'never settles': () => new Promise(() => undefined),
  'returns a promise': (good) => Promise.resolve(good),
  'returns a query': (good) => ({ then: (resolve: (value: unknown) => void) => resolve(good) }),
  'returns a query that throws': () => ({
    then: () => {
      throw errorOf();
    },
  }),
  'returns a query that rejects': () => ({
    then: (_resolve: unknown, reject?: (error: unknown) => void) => reject?.(errorOf()),
  }),
  'returns an object whose then() is unreadable': () => ({
    get then() {
      throw errorOf();
    },
  }),
  'returns nothing': () => undefined,
  'resolves to nothing': () => Promise.resolve(undefined),
  'returns another type': () => Symbol('another type'),
};

/** Code of the application: what it should return, or what a row has it do. */
export type Code = <Good>(good: Good) => Good;

export interface Running {
  readonly events: SessionAuthEvents;
  readonly sessions: SessionAuthService;
  readonly token: string;
  /** `GET /me`: the status, and the code of an error. */
  readonly ask: () => Promise<string>;
}

export interface Setup {
  readonly options?: Partial<SessionAuthOptions & SessionAuthExtras>;
  readonly rule?: MethodDecorator;
  readonly providers?: readonly Type[];
  /** Before the code misbehaves. */
  readonly prepare?: (running: Running) => unknown;
  readonly drive?: (running: Running) => Promise<string>;
}

function policyOf(code: Code): Setup {
  @Injectable({ scope: Scope.TRANSIENT })
  class Policy {
    allows(): boolean {
      return code(true);
    }
  }
  return { rule: Authorize(Policy), providers: [Policy] };
}

function loaderOf(code: Code): Type<{ load(): object }> {
  @Injectable()
  class Loader {
    load(): object {
      return code({ id: 7 });
    }
  }
  return Loader;
}

const schemaOf = (validate: (value: object) => object): UserRecordSchema => ({
  '~standard': { version: 1, vendor: 'test', validate: validate as never },
});

function recordWith(decorate: PropertyDecorator): typeof UserRecord {
  class Employee extends UserRecord {
    readonly motto?: string;
  }
  decorate(Employee.prototype, 'motto');
  return Employee;
}

/** The method of the store that the code is in; the others behave well. */
function storing(method: string, code: Code): Setup {
  const entries = new Map<string, Uint8Array>();
  const run = <Good>(name: string, good: Good): Good => (name === method ? code(good) : good);
  const answers: Partial<SessionStore> = {
    get: (key) => {
      const value = entries.get(key);
      const entry: StoreEntry =
        value === undefined
          ? { kind: 'none', storeTimeMs: Date.now() }
          : { kind: 'value', value, remainingMs: 10_000, storeTimeMs: Date.now() };
      return run('get', Promise.resolve(entry));
    },
    set: (key, value) => {
      entries.set(key, value);
      return run('set', Promise.resolve(true));
    },
    getRevocations: (keys) => run('getRevocations', Promise.resolve(keys.map(() => undefined))),
    subscribe: (subscriber) => {
      subscriber.subscribed();
      return run('subscribe', () => run('unsubscribe', Promise.resolve()));
    },
  };
  const store = Object.create(SessionStore.prototype) as Record<string, unknown>;
  for (const name of ['delete', 'setTombstone', 'clearTombstone', 'setRevocation', 'publish'])
    store[name] = () => run(name, Promise.resolve(true));
  Object.assign(store, answers, {
    secret: ['a secret of the store', 'another secret of the store'],
  });
  return {
    options: { cache: { ttlMs: PATIENT_MS, store: store as never } },
    drive: async ({ ask, sessions, token }) => {
      const answers = [await ask(), '', ''];
      await sessions.forget(token);
      answers[1] = await ask();
      const refused: unknown = await sessions.verify('unknown').catch((error: unknown) => error);
      answers[2] = String((refused as { readonly statusCode: number }).statusCode);
      await sessions.forgetUser('ann');
      await sessions.signOut(token);
      const { kind } = await sessions.signIn({ username: 'ann', password: 'x' });
      return [...answers, kind].join(' ');
    },
  };
}

const STORE = /^(\w+)\(\) of the store$/;

const PLACES: Partial<Record<string, (code: Code) => Setup>> = {
  'a rule': (code) => ({ rule: Authorize(() => code(true)) }),
  'a scoped policy': policyOf,
  'the class loadUser': (code) => ({ options: { loadUser: loaderOf(code) } }),
  'the function apiKey': (code) => ({ options: { apiKey: () => code('application-key') } }),
  'a token source': (code) => ({
    options: { token: (_context, request) => code(request.headers['x-auth-token'] as string) },
  }),
  'a schema': (code) => ({ options: { userRecord: schemaOf((value) => code({ value })) } }),
  'a field of a schema': (code) => ({
    options: { userRecord: schemaOf((value) => ({ value: { ...value, motto: { deep: [code('x')] } } })) },
  }),
  'a validator of a class': (code) => ({
    options: {
      userRecord: recordWith(ValidateBy({ name: 'motto', validator: { validate: () => code(true) } })),
    },
  }),
  'a subscriber of a diagnostics channel': (code) => {
    const listener = (): void => code(undefined);
    subscribe(CHECK_CHANNEL, listener);
    return {
      drive: async ({ ask }) => {
        const answer = await ask();
        unsubscribe(CHECK_CHANNEL, listener);
        return answer;
      },
    };
  },
  decisions$: (code) => ({
    prepare: ({ events }) => {
      // Also through an operator, and as an object.
      events.decisions$.subscribe(() => code(undefined));
      events.decisions$.pipe().subscribe({ next: () => code(undefined) });
    },
  }),
};

/** Returns the parts of an application whose code is at a place. */
export function setupAt(place: string, code: Code): Setup {
  const method = STORE.exec(place)?.[1];
  const setup = method === undefined ? PLACES[place]?.(code) : storing(method, code);
  if (!setup) throw new Error(`There is no place ${place}`);
  return setup;
}
