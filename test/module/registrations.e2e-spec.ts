import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  forwardRef,
  Get,
  Global,
  Injectable,
  Module,
  type DynamicModule,
  type INestApplication,
  type Provider,
  type Type,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import {
  CurrentUser,
  Public,
  Roles,
  SessionAuthGuard,
  SessionAuthModule,
  type SessionAuthExtras,
} from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { accessMapOf } from 'nestjs-session-auth/testing';
import { always } from '../support/always.js';
import { CapturedLog } from '../support/captured-log.js';
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

describe('two registrations for the whole application', () => {
  const closed = (): DynamicModule =>
    SessionAuthModule.forRoot({ ...OPTIONS, isGlobal: false, protectAllRoutes: true });
  const asyncWhole = (): DynamicModule => SessionAuthModule.forRootAsync({ useFactory: () => OPTIONS });

  it('stop the start with a message that contains the remedy [P21]', async () => {
    for (const [first, second] of [
      [whole(), whole()],
      [whole(), asyncWhole()],
      [closed(), closed()],
      [whole(), GlobalWrapper],
    ] as const) {
      for (const imports of [
        [first, second],
        [holding(Staff, [first]), holding(Partners, [second])],
      ]) {
        const error = await bootstrapError(holding(Root, imports));
        expect(error).toBeInstanceOf(InvalidConfigurationError);
        expect(error.message).toMatch(
          /^SessionAuthModule is registered more than once for the whole application\. Call forRoot\(\) or forRootAsync\(\) once, in the root module/,
        );
      }
    }
  });

  it('are one if two modules import it, and may be beside one of a single module', async () => {
    const one = whole();
    for (const [first, second] of [
      [one, one],
      [closed(), here()],
    ] as const) {
      const root = holding(Root, [holding(Staff, [first]), holding(Partners, [second])]);
      await expect(bootstrapError(root)).rejects.toThrow('The application started');
    }
  });
});

describe('two registrations that a module is given stop the start [P68]', () => {
  const between = { module: Between, imports: [exporting(Staff, [here()])], exports: [Staff] };
  const partners = exporting(Partners, [here()]);

  it.each<[string, DynamicModule, string[]]>([
    ['by its own import and a re-export', holding(Root, [partners, here()], Shared), ['Root', 'Partners']],
    ['by forwardRef both ways', holding(Root, [Other]), ['One', 'Other']],
    [
      'by a global one that it imports itself',
      holding(Root, [whole(), partners], Shared),
      ['Root', 'Partners'],
    ],
    ['by two imports of its own, also without handlers', holding(Root, [here(), asyncHere()]), ['Root']],
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

const guard: Provider = { provide: APP_GUARD, useClass: SessionAuthGuard };
const ownGuard: Provider = { provide: APP_GUARD, useClass: OwnGuard };

interface Guarded {
  /** Extras of the registration for staff, which the root module imports. */
  readonly staff?: SessionAuthExtras;
  readonly providers?: Provider[];
  readonly ofPartners?: Provider[];
  readonly configure?: (app: INestApplication) => void;
}

const GUARDED: Readonly<Record<string, Guarded>> = {
  'protectAllRoutes of one that is not global': { staff: { protectAllRoutes: true } },
  'APP_GUARD of both, and of a subclass': { providers: [guard, ownGuard], ofPartners: [ownGuard, guard] },
  useGlobalGuards: { configure: (app) => void app.useGlobalGuards(app.get(SessionAuthGuard)) },
};

abstract class Base {
  @Get('inherited') @Roles('clerk') inherited(@CurrentUser('username') name: string | undefined): string {
    return String(name);
  }
}
@Controller('staff')
class StaffController extends Base {}
@Controller('partners')
class PartnersController extends Base {}

@Controller('root')
class UnplacedController {
  @Get('plain') plain(): string {
    return 'plain';
  }

  @Get('open') @Public() open(): string {
    return 'open';
  }
}

describe.each(PLATFORMS)(
  'each handler is checked by the registration of its module on %s',
  (_name, platform) => {
    const bed = testbed(platform);

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
          expect((await get(app, `/${place}/${path}`, { [STAFF]: ann }))[0]).toBe(401);
          expect(asked()).toEqual({ staff: [], partner: [] });
        }
      }
    });

    it.each(Object.keys(GUARDED))('by the guard of the whole application: %s [P68]', async (how) => {
      const { staff = {}, providers = [], ofPartners = [], configure } = GUARDED[how] ?? {};
      const { forStaff, forPartners, asked, get, ann, bob } = await twoServices(bed);
      const partners = holding(Partners, [forPartners()], controllerAt('partners'), PartnersController);
      const root = {
        ...holding(
          Root,
          [forStaff(staff), { ...partners, providers: ofPartners }],
          controllerAt('staff'),
          StaffController,
        ),
        providers,
      };
      const app = await bed.app(root, { ...(configure && { configure }) });
      for (const path of ['ruled', 'guarded', 'plain', 'inherited']) {
        expect(await get(app, `/staff/${path}`)).toEqual([200, 'ann']);
        expect(asked()).toEqual({ staff: [ann], partner: [] });
        expect((await get(app, `/staff/${path}`, { [PARTNER]: bob }))[0]).toBe(401);
        expect(await get(app, `/partners/${path}`)).toEqual([200, 'bob']);
        expect((await get(app, `/partners/${path}`, { [STAFF]: ann }))[0]).toBe(401);
        expect(asked()).toEqual({ staff: [], partner: [bob] });
      }
      expect(await get(app, '/partners/open', {})).toEqual([200, 'open']);
    });

    it('and by none if its module has none: it is denied, with one line [P68]', async () => {
      const logger = new CapturedLog();
      const { forStaff, forPartners, asked, get } = await twoServices(bed);
      const imports = [holding(Staff, [forStaff()]), holding(Partners, [forPartners()])].map((module) => ({
        ...module,
        providers: [guard],
      }));
      const app = await bed.app(holding(Root, imports, UnplacedController), { logger });
      expect(await always(async () => (await get(app, '/root/plain'))[0])).toBe(403);
      expect(await get(app, '/root/open')).toEqual([200, 'open']);
      expect(asked()).toEqual({ staff: [], partner: [] });
      expect(logger.having('warn', 'no registration: calls of UnplacedController get 403')).toHaveLength(1);
      const map = accessMapOf(app.app).map(({ handler, access, isOpen }) => [handler, access, isOpen]);
      expect(map).toEqual([
        ['UnplacedController.open', 'public', true],
        ['UnplacedController.plain', 'protected', false],
      ]);
    });
  },
);
