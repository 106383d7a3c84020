import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import {
  CurrentUser,
  SessionAuthModule,
  type AuthorityResolver,
  type SessionAuthOptions,
} from 'nestjs-session-auth';
import fc from 'fast-check';
import { afterDelay, json } from '../support/scripted-service.js';
import { CapturedLog } from '../support/captured-log.js';
import { PLATFORMS, type RunningApp } from '../support/platforms.js';
import { MeController } from '../support/sample-app.js';
import type { ScriptedService } from '../support/scripted-service.js';
import { testbed } from '../support/testbed.js';

@Controller('tenant')
class TenantController {
  @Get('user')
  user(@CurrentUser('username') username: string | undefined): string {
    return String(username);
  }
}

@Module({})
class Root {}

const byHeader: AuthorityResolver = (_context, { headers }) => String(headers['x-tenant']);
const TENANTS = ['acme', 'globex', 'initech', 'umbrella', 'hooli'] as const;
const USERS = 3;

describe.each(PLATFORMS)('the option authority on %s', (_name, platform) => {
  const bed = testbed(platform);

  async function tenants(
    authority: AuthorityResolver,
    options: Partial<SessionAuthOptions> = {},
    logger?: CapturedLog,
  ): Promise<{ app: RunningApp; own: ScriptedService; services: ScriptedService[] }> {
    const own = await bed.service();
    const services = await Promise.all(TENANTS.map(() => bed.service()));
    const named = TENANTS.map((name, index) =>
      SessionAuthModule.forRoot({
        name,
        baseUrl: services[index]?.url ?? '',
        apiKey: `key-of-${name}`,
        ...options,
      }),
    );
    const main = SessionAuthModule.forRoot({
      baseUrl: own.url,
      apiKey: 'own-key',
      authority,
      protectAllRoutes: true,
    });
    const root = { module: Root, imports: [main, ...named], controllers: [TenantController, MeController] };
    return { app: await bed.app(root, logger ? { logger } : {}), own, services };
  }

  it.each([
    ['without a cache', {}],
    ['with a cache', { cache: { ttlMs: 60_000 } }],
  ])('separates tenants, in any order of their requests: %s', async (_case, options) => {
    const { app, own, services } = await tenants(byHeader, options);
    const tokens = TENANTS.map((tenant, index) =>
      Array.from({ length: USERS }, (_, user) =>
        services[index]?.signInAs({ username: `${tenant}-${user}` }, `token-${tenant}-${user}`),
      ),
    );
    for (const [index, service] of services.entries()) {
      service.on('user_details', (request, response, ...rest) => {
        const username = String(request.headers['x-auth-token']).replace('token-', '');
        afterDelay((index * 7) % 11, json({ username }))(request, response, ...rest);
      });
    }
    const request = fc.record({ tenant: fc.nat(TENANTS.length - 1), user: fc.nat(USERS - 1) });

    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 40 }), async (requests) => {
        const users = await Promise.all(
          requests.map(async ({ tenant, user }) =>
            (
              await app.get('/tenant/user', tokens[tenant]?.[user], { 'x-tenant': TENANTS[tenant] ?? '' })
            ).text(),
          ),
        );
        expect(users).toEqual(requests.map(({ tenant, user }) => `${String(TENANTS[tenant])}-${user}`));
      }),
      { numRuns: 15 },
    );
    for (const [index, tenant] of TENANTS.entries()) {
      const seen = services[index]?.requests ?? [];
      expect(seen.length).toBeGreaterThan(0);
      for (const { headers } of seen) {
        expect(headers['x-auth-token']).toMatch(new RegExp(`^token-${tenant}-`));
        expect(headers['x-api-key']).toBe(`key-of-${tenant}`);
      }
    }
    expect(own.requests).toEqual([]);
  });

  it('checks by the default authority if it returns default', async () => {
    const { app, own } = await tenants(byHeader);

    expect((await app.get('/me', own.signInAs({}), { 'x-tenant': 'default' })).status).toBe(200);
  });

  it.each<[string, AuthorityResolver]>([
    ['a name that is not registered', () => 'unknown'],
    ['a name of an object', () => '__proto__'],
    ['nothing', () => undefined as unknown as string],
    ['a promise', () => Promise.resolve('acme') as unknown as string],
    ['a promise that rejects', () => Promise.reject(new Error('no tenant')) as unknown as string],
    ['an object', () => ({ toString: () => 'acme' }) as unknown as string],
    [
      'nothing, because it throws',
      () => {
        throw new Error('no tenant');
      },
    ],
  ])('denies with 401, and sends the token to no service, if it returns %s', async (_case, authority) => {
    const { app, own, services } = await tenants(authority);
    const { status, headers } = await app.get('/me', 'some-token');

    expect([status, headers.get('cache-control')]).toEqual([401, 'no-store']);
    expect((await app.get('/open')).status).toBe(200);
    expect([own, ...services].flatMap(({ requests }) => requests)).toEqual([]);
  });

  it('is logged if it returns no name, once a minute; an unknown name is not', async () => {
    const log = new CapturedLog();
    const { app } = await tenants(byHeader, {}, log);
    await app.get('/me', 'some-token', { 'x-tenant': 'unknown' });
    expect(log.having('warn', 'authority')).toEqual([]);

    const other = new CapturedLog();
    const broken = await tenants(() => undefined as unknown as string, {}, other);
    for (let time = 0; time < 3; time += 1) await broken.app.get('/me', 'some-token');
    expect(
      other.having(
        'warn',
        'no authority: the option authority threw, or returned something other than a string',
      ),
    ).toHaveLength(1);
  });
});
