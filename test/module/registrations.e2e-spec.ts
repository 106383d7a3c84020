import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  forwardRef,
  Get,
  Global,
  Injectable,
  Module,
  UseGuards,
  type DynamicModule,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_GUARD, LazyModuleLoader } from '@nestjs/core';
import { CurrentUser, Roles, SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { bootstrapError } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';
import {
  Between,
  controllerAt,
  PARTNER,
  Partners,
  Root,
  Staff,
  STAFF,
  twoServices,
} from './two-registrations.js';

const OPTIONS = { baseUrl: 'http://127.0.0.1:9', apiKey: 'application-key' };
const here = (): DynamicModule => SessionAuthModule.forRoot({ ...OPTIONS, isGlobal: false });
const asyncHere = (): DynamicModule =>
  SessionAuthModule.forRootAsync({ isGlobal: false, useFactory: () => OPTIONS });
const whole = (): DynamicModule => SessionAuthModule.forRoot(OPTIONS);

type Imports = NonNullable<DynamicModule['imports']>;

const exporting = (module: Type, imports: Imports, controllers: Type[] = []): DynamicModule => ({
  module,
  imports,
  controllers,
  exports: [SessionAuthModule],
});
const holding = (module: Type, imports: Imports, ...controllers: Type[]): DynamicModule => ({
  module,
  imports,
  controllers,
});

@Controller()
class Shared {
  @Get('shared') shared(): string {
    return 'shared';
  }
}

// Each imports the other, and re-exports its registration.
@Module({ imports: [here(), forwardRef(() => Other)], exports: [SessionAuthModule] })
class One {}
@Module({
  imports: [here(), forwardRef(() => One)],
  exports: [SessionAuthModule],
  controllers: [Shared],
})
class Other {}

@Module({ imports: [here()], exports: [SessionAuthModule] })
@Global()
class GlobalWrapper {}

describe('two registrations that a module is given stop the start [P68]', () => {
  const between = { module: Between, imports: [exporting(Staff, [here()])], exports: [Staff] };
  const partners = exporting(Partners, [here()]);

  it.each<[string, DynamicModule, string[]]>([
    ['by its own import and a re-export', holding(Root, [partners, here()], Shared), ['Root', 'Partners']],
    ['the other way round', holding(Root, [here(), partners], Shared), ['Root', 'Partners']],
    ['by a re-export of a re-export', holding(Root, [here(), between], Shared), ['Root', 'Staff']],
    ['by two re-exports', holding(Root, [partners, between], Shared), ['Partners', 'Staff']],
    ['by forwardRef both ways', holding(Root, [Other]), ['One', 'Other']],
    [
      'by a global one that it imports itself',
      holding(Root, [whole(), partners], Shared),
      ['Root', 'Partners'],
    ],
    ['that it imports both', holding(Root, [here(), asyncHere()], Shared), ['Root']],
    ['by forRootAsync', exporting(Root, [asyncHere(), partners], [Shared]), ['Root', 'Partners']],
  ])('%s', async (_how, root, names) => {
    const error = await bootstrapError(root);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toMatch(/has two registrations of SessionAuthModule/);
    for (const name of names) expect(error.message).toContain(name);
    expect(error.message).not.toContain('application-key');
  });

  it('of which one is a provider that has handlers', async () => {
    @Injectable()
    class Consumer {
      @Roles('clerk') @Get() consume(): void {
        return undefined;
      }
    }
    const root = { module: Root, imports: [partners, here()], providers: [Consumer] };
    expect((await bootstrapError(root)).message).toContain('Root has two registrations');
  });

  it.each<[string, DynamicModule]>([
    [
      'each by its own',
      holding(Root, [holding(Staff, [here()], Shared), holding(Partners, [here()], Shared)]),
    ],
    ['one by the global one', holding(Root, [whole(), holding(Partners, [here()], Shared)], Shared)],
  ])('and so does a class in two modules: %s', async (_how, root) => {
    const error = await bootstrapError(root);
    expect(error).toBeInstanceOf(InvalidConfigurationError);
    expect(error.message).toMatch(/^Shared is in (Staff|Root|Partners) and (Staff|Root|Partners), /);
    expect(error.message).toContain('Give each module a subclass of it');
  });

  it('and so do two for the whole application, one of which a global module re-exports', async () => {
    const error = await bootstrapError(holding(Root, [GlobalWrapper, whole()]));
    expect(error.message).toContain(
      'SessionAuthModule is registered more than once for the whole application',
    );
  });

  it.each<[string, DynamicModule]>([
    ['a module without handlers', holding(Root, [partners, between])],
    [
      'one registration by two ways',
      holding(
        Root,
        [partners, { ...partners }, { module: Between, imports: [partners], exports: [Partners] }],
        Shared,
      ),
    ],
    [
      'a class in two modules with one registration',
      holding(Root, [whole(), holding(Staff, [here()]), holding(Between, [], Shared)], Shared),
    ],
  ])('and do not concern %s', async (_what, root) => {
    await expect(bootstrapError(root)).rejects.toThrow('The application started');
  });
});

@Injectable()
class OwnGuard extends SessionAuthGuard {}

describe.each(PLATFORMS)(
  'each handler is checked by the registration of its module on %s',
  (_name, platform) => {
    const bed = testbed(platform);

    const guard = (): Provider => ({ provide: APP_GUARD, useClass: SessionAuthGuard });
    const ownGuard = (): Provider => ({ provide: APP_GUARD, useClass: OwnGuard });

    it('which it imports, or gets by a re-export, also of a re-export [P68]', async () => {
      const { forStaff, forPartners, asked, get, ann, bob } = await twoServices(bed);
      const partners = exporting(Partners, [forPartners()], [controllerAt('partners')]);
      const between = { module: Between, imports: [partners], exports: [Partners] };
      const app = await bed.app(
        holding(Root, [holding(Staff, [forStaff()], controllerAt('staff')), between], controllerAt('root')),
      );
      for (const path of ['ruled', 'guarded']) {
        expect(await get(app, `/staff/${path}`)).toEqual([200, 'ann']);
        expect(asked()).toEqual({ staff: [ann], partner: [] });
        for (const place of ['partners', 'root']) {
          expect(await get(app, `/${place}/${path}`)).toEqual([200, 'bob']);
          expect(asked()).toEqual({ staff: [], partner: [bob] });
          expect(await always(async () => (await get(app, `/${place}/${path}`, { [STAFF]: ann }))[0])).toBe(
            401,
          );
        }
        expect(asked()).toEqual({ staff: [], partner: [] });
      }
    });

    it.each<[string, (modules: { staff: DynamicModule; partners: DynamicModule }) => DynamicModule]>([
      ['protectAllRoutes of a global one', ({ partners }) => holding(Root, [partners], controllerAt('root'))],
    ])('by every guard of the whole application: %s [P68]', async () => {
      const { forStaff, forPartners, asked, get, ann, bob } = await twoServices(bed);
      const app = await bed.app(
        holding(
          Root,
          [
            forStaff({ isGlobal: true, protectAllRoutes: true }),
            holding(Partners, [forPartners()], controllerAt('partners')),
          ],
          controllerAt('staff'),
        ),
      );
      for (const path of ['ruled', 'guarded', 'plain']) {
        expect(await get(app, `/staff/${path}`)).toEqual([200, 'ann']);
        expect(asked()).toEqual({ staff: [ann], partner: [] });
        expect(await get(app, `/partners/${path}`)).toEqual([200, 'bob']);
        expect(asked()).toEqual({ staff: [], partner: [bob] });
        expect((await get(app, `/partners/${path}`, { [STAFF]: ann }))[0]).toBe(401);
        expect(asked()).toEqual({ staff: [], partner: [] });
      }
      expect(await get(app, '/partners/open')).toEqual([200, 'open']);
    });
  },
);
