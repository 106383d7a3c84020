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
import { SessionAuthGuard, SessionAuthModule } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { CapturedLog } from '../support/captured-log.js';
import { testbed } from '../support/testbed.js';
import { PARTNER, Partners, Root, Staff, STAFF, twoServices } from './two-registrations.js';

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

  it('stops the load, because Nest would apply no guard of the application to it [P74]', async () => {
    const { forStaff, forPartners, staff } = await twoServices(bed);
    for (const root of [{ module: Root }, { module: Root, imports: [forPartners({ isGlobal: true })] }]) {
      const { app } = await bed.app(root);
      for (const extras of [{ isGlobal: true, protectAllRoutes: true }, { isGlobal: false }]) {
        const loading = load(app, late(forStaff(extras)));
        await expect(loading).rejects.toThrow(InvalidConfigurationError);
        await expect(loading).rejects.toThrow(
          'SessionAuthModule is in a module that LazyModuleLoader loads. Register it in the root module, or in a module that it imports.',
        );
      }
    }
    expect(staff.requests).toEqual([]);
  });

  it('is no new one if the root module has it: handlers that are loaded are checked by it [P68]', async () => {
    const { forStaff, forPartners, ann, bob, asked } = await twoServices(bed);
    const partners = exporting(Partners, forPartners());
    const whole = forStaff({ isGlobal: true, protectAllRoutes: true });
    const { app } = await bed.app({ module: Root, imports: [whole, partners] });
    const ref = await load(app, late(partners));
    expect(await call(app, ref, { [STAFF]: ann, [PARTNER]: bob })).toBe('handled');
    expect(await call(app, ref, { [STAFF]: ann })).toBe(401);
    expect(asked()).toEqual({ staff: [], partner: [bob] });
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
});
