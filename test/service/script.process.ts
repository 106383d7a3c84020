import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { SessionStore } from 'nestjs-session-auth/store';

export interface ScriptSettings {
  readonly baseUrl: string;
  /** Of every call. */
  readonly timeoutMs: number;
  /** Methods of the service class, which the script awaits one after the other. */
  readonly calls: readonly string[];
  /** Whether the function `apiKey` ever settles. */
  readonly keySettles: boolean;
  /** Whether a store is set, which never answers. */
  readonly hasStore: boolean;
  /** Whether the script closes the application at its end. */
  readonly closes: boolean;
}

const settings = JSON.parse(process.argv[2] ?? '') as ScriptSettings;
const { baseUrl, timeoutMs, calls, keySettles, hasStore, closes } = settings;
const never = (): Promise<never> => new Promise(() => undefined);

/** A store that never answers. */
class HangingStore extends SessionStore {
  override readonly secret = 'secret of at least 16 characters';
  readonly get = never;
  readonly set = never;
  readonly delete = never;
  readonly setTombstone = never;
  readonly clearTombstone = never;
  readonly setRevocation = never;
  readonly getRevocations = never;
  readonly publish = never;
  readonly subscribe = () => () => Promise.resolve();
}

@Module({
  imports: [
    SessionAuthModule.forRoot({
      baseUrl,
      apiKey: keySettles ? 'application-key' : never,
      timeoutMs,
      signInTimeoutMs: timeoutMs,
      signOutTimeoutMs: timeoutMs,
      cache: { ttlMs: 60_000, refreshAheadMs: 59_999, ...(hasStore && { store: new HangingStore() }) },
    }),
  ],
})
class ScriptModule {}

const app = await NestFactory.createApplicationContext(ScriptModule, { logger: false, abortOnError: false });
const sessions = app.get(SessionAuthService);
const make: Readonly<Record<string, () => Promise<unknown>>> = {
  verify: () => sessions.verify('token'),
  userDetails: () => sessions.userDetails('token'),
  signIn: () => sessions.signIn({ username: 'ann', password: 'secret' }),
  signOut: () => sessions.signOut('other-token'),
  forget: () => sessions.forget('other-token'),
  forgetUser: () => sessions.forgetUser('bob'),
  forgetAll: () => sessions.forgetAll(),
};

for (const call of calls) {
  let outcome = 'done';
  try {
    await make[call]?.();
  } catch (error) {
    outcome = (error as Error).name;
  } finally {
    console.log(`${call}: ${outcome}`);
  }
}
if (closes) await app.close();
console.log('end');
