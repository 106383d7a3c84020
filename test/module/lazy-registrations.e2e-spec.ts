import { describe, expect, it } from '@jest/globals';
import {
  Get,
  Injectable,
  Module,
  UseGuards,
  type DynamicModule,
  type HttpException,
  type INestApplication,
} from '@nestjs/common';
import { ExternalContextCreator, LazyModuleLoader, type ModuleRef } from '@nestjs/core';
import { SessionAuthGuard, SessionAuthModule, SessionAuthService } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { MemoryServer, MemoryStore } from '../fleet/memory-store.js';
import { CapturedLog } from '../support/captured-log.js';
import { testbed } from '../support/testbed.js';
import { until } from '../support/until.js';
import { controllerAt, PARTNER, Partners, Root, Staff, STAFF, twoServices } from './two-registrations.js';

@Module({})
class Late {}

@Injectable()
@UseGuards(SessionAuthGuard)
class LateHandlers {
  @Get() handle(): string {
    return 'handled';
  }
}

const load = (app: INestApplication, module: DynamicModule): Promise<ModuleRef> =>
  app.get(LazyModuleLoader).load(() => module);
const late = (...imports: DynamicModule[]): DynamicModule => ({
  module: Late,
  imports,
  providers: [LateHandlers],
});
const exporting = (module: DynamicModule['module'], imported: DynamicModule): DynamicModule => ({
  module,
  imports: [imported],
  exports: [SessionAuthModule],
});

/** Calls a handler that a framework has built by Nest, with these headers; returns 'handled', or the status. */
async function call(app: INestApplication, ref: ModuleRef, headers: object): Promise<unknown> {
  const handlers = ref.get(LateHandlers);
  const called: unknown = Reflect.get(handlers, 'handle');
  const options = { guards: true, interceptors: false, filters: false };
  const contexts = app.get(ExternalContextCreator, { strict: false });
  const none = undefined;
  const handle = contexts.create(handlers, called as () => string, 'handle', none, none, none, none, options);
  const reply = { setHeader: () => undefined, getHeader: () => undefined, headersSent: false };
  return handle({ headers, rawHeaders: Object.entries(headers).flat() }, reply).catch((error: unknown) =>
    (error as HttpException).getStatus(),
  );
}

describe('a registration of a module that is loaded lazily', () => {
  const bed = testbed();

  it('can not protect all routes, because its guard would have no effect: the load is rejected [P74]', async () => {
    const { forStaff, forPartners, staff } = await twoServices(bed);
    for (const root of [{ module: Root }, { module: Root, imports: [forPartners({ isGlobal: true })] }]) {
      const { app } = await bed.app(root);
      for (const isGlobal of [true, false]) {
        const loading = load(app, late(forStaff({ isGlobal, protectAllRoutes: true })));
        await expect(loading).rejects.toThrow(InvalidConfigurationError);
        await expect(loading).rejects.toThrow(
          'SessionAuthModule: protectAllRoutes has no effect in a module that LazyModuleLoader loads. Register SessionAuthModule in the root module, or in a module that it imports.',
        );
      }
    }
    expect(staff.requests).toEqual([]);
  });

  it('works without that, and with protectAllRoutes if the root module has it too [P74]', async () => {
    const { forStaff, forPartners, ann, bob, asked } = await twoServices(bed);
    const whole = forStaff({ isGlobal: true, protectAllRoutes: true });
    const running = await bed.app({
      module: Root,
      imports: [whole],
      controllers: [controllerAt('root')],
    });
    const { app } = running;
    await load(app, { module: Staff, imports: [whole] });
    const ref = await load(app, { module: Partners, imports: [forPartners()] });
    const sessions = ref.get(SessionAuthService, { strict: false });
    expect(await (await running.get('/root/plain', undefined, { [STAFF]: ann })).text()).toBe('ann');
    expect((await running.get('/root/plain', undefined, { [PARTNER]: bob })).status).toBe(401);
    expect(sessions).toBeInstanceOf(SessionAuthService);
    expect(asked()).toEqual({ staff: [ann], partner: [] });
  });

  it('checks the handlers of its module, with every guard [P68]', async () => {
    const { forStaff, forPartners, ann, bob, asked } = await twoServices(bed);
    const { app } = await bed.app({
      module: Root,
      imports: [forStaff({ isGlobal: true, protectAllRoutes: true })],
    });
    const ref = await load(app, late(forPartners()));
    expect(await call(app, ref, { [STAFF]: ann, [PARTNER]: bob })).toBe('handled');
    expect(await call(app, ref, { [STAFF]: ann })).toBe(401);
    expect(asked()).toEqual({ staff: [], partner: [bob] });
  });

  it('rejects the load if its module has another one, and handlers [P68]', async () => {
    const { forStaff, forPartners } = await twoServices(bed);
    const staff = exporting(Staff, forStaff());
    const { app } = await bed.app({ module: Root, imports: [staff] });
    await expect(load(app, late(staff, forPartners()))).rejects.toThrow(
      /^Late has two registrations of SessionAuthModule/,
    );
  });

  it('denies the handlers of a module that is given two which the application has, with one line [P68]', async () => {
    const logger = new CapturedLog();
    const { forStaff, forPartners, ann, bob, asked } = await twoServices(bed);
    const [staff, partners] = [exporting(Staff, forStaff()), exporting(Partners, forPartners())];
    const { app } = await bed.app({ module: Root, imports: [staff, partners] }, { logger });
    const ref = await load(app, late(staff, partners));
    for (let round = 0; round < 3; round += 1)
      expect(await call(app, ref, { [STAFF]: ann, [PARTNER]: bob })).toBe(403);
    expect(asked()).toEqual({ staff: [], partner: [] });
    expect(logger.having('warn', 'no registration: calls of LateHandlers get 403')).toHaveLength(1);
  });

  it('receives the revocations of other instances, although Nest calls no hook of it [P74]', async () => {
    const { forStaff } = await twoServices(bed);
    const server = new MemoryServer();
    const cache = {
      ttlMs: 60_000,
      store: Object.assign(new MemoryStore(server), { secret: 'x'.repeat(32) }),
    };
    const { app } = await bed.app({ module: Root });
    await load(app, late(forStaff({ cache })));
    await until('a subscription', () => server.subscribers.size === 1);
  });
});
