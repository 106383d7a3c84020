import { describe, expect, it } from '@jest/globals';
import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { SessionHttpService } from '../client/session-http.service.js';
import { GUARD_PARTS, type GuardParts } from '../guard/guard-parts.js';
import { SessionVerifier } from '../verifier/session-verifier.js';
import { SessionAuthEvents } from './events/session-auth-events.js';
import { InjectSessionAuth } from './authorities/authority-tokens.js';
import { SessionAuthService } from './service/session-auth.service.js';
import { SessionAuthModule } from './session-auth.module.js';
import { nameIn } from './authorities/authority.js';
import { PARTS, type AuthorityParts } from './wiring.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'key' };

@Module({})
class Root {}

@Injectable()
class Partners {
  constructor(
    readonly own: SessionAuthService,
    readonly ownEvents: SessionAuthEvents,
    @InjectSessionAuth('partners') readonly service: SessionAuthService,
    @InjectSessionAuth('partners', SessionAuthEvents) readonly events: SessionAuthEvents,
    @InjectSessionAuth('partners', SessionHttpService) readonly http: SessionHttpService,
  ) {}
}

const partners = (isGlobal: boolean): DynamicModule =>
  SessionAuthModule.forRoot({ ...OPTIONS, name: 'partners', isGlobal });

describe('a named authority', () => {
  it.each([true, false])(
    'provides its own classes to the modules that reach it, with isGlobal: %p',
    async (isGlobal) => {
      const root: DynamicModule = {
        module: Root,
        imports: [SessionAuthModule.forRoot(OPTIONS), partners(isGlobal)],
        providers: [Partners],
      };
      const context = await NestFactory.createApplicationContext(root, {
        logger: false,
        abortOnError: false,
      });
      const { own, ownEvents, service, events, http } = context.get(Partners);
      expect([service, events, http]).toEqual([
        expect.any(SessionAuthService),
        expect.any(SessionAuthEvents),
        expect.any(SessionHttpService),
      ]);
      expect([own, ownEvents]).toEqual([context.get(SessionAuthService), context.get(SessionAuthEvents)]);
      expect([service === own, events === ownEvents]).toEqual([false, false]);
      await context.close();
    },
  );

  it('guards with its own verifier, and selects no other authority', async () => {
    const root: DynamicModule = {
      module: Root,
      imports: [SessionAuthModule.forRoot(OPTIONS), partners(true)],
    };
    const context = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
    const module = [...context.get(ModulesContainer).values()].find((each) => nameIn(each) === 'partners');
    const parts = module?.providers.get(GUARD_PARTS)?.instance as GuardParts;
    expect(parts).toMatchObject({ authority: 'partners', authorities: undefined });
    expect(parts.verifier).toBe((module?.providers.get(PARTS)?.instance as AuthorityParts).verifier);
    expect(parts.verifier).toBeInstanceOf(SessionVerifier);
    await context.close();
  });
});
