import { describe, expect, it } from '@jest/globals';
import { applyDecorators, Controller, Get, UseGuards } from '@nestjs/common';
import * as fc from 'fast-check';
import { CclScope, RequireFlags, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';

/** Decorators that an application composes. */
const ClientManagers = () =>
  applyDecorators(UseGuards(SessionAuthGuard), Roles('manager'), CclScope({ client_id: 'clientId' }));

@Controller()
@UseGuards(SessionAuthGuard)
class DomainController {
  @Get('ats')
  @RequireFlags('ats_enabled')
  ats(): string {
    return 'ats';
  }

  @Get('both')
  @RequireFlags('ats_enabled', 'obs_enabled')
  both(): string {
    return 'both';
  }

  @Get('clients/:clientId/companies/:companyId')
  @CclScope({ client_id: 'clientId', company_id: 'companyId' })
  company(): string {
    return 'company';
  }

  @Get('misnamed/:client')
  @CclScope({ client_id: 'clientId' })
  misnamed(): string {
    return 'misnamed';
  }
}

@Controller('clients/:clientId')
class ManagedController {
  @Get()
  @ClientManagers()
  client(): string {
    return 'client';
  }
}

describe.each(PLATFORMS)('the rules of the domain on %s', (_name, platform) => {
  const bed = testbed(platform);
  const shared = sharedSample({ controllers: [DomainController, ManagedController] }, platform);

  async function statusOf(record: object, path: string): Promise<number> {
    return (await shared.app.get(path, shared.service.signInAs(record))).status;
  }

  it.each([
    ['/ats', { ats_enabled: true }, 200],
    ['/ats', { ats_enabled: false }, 403],
    ['/ats', {}, 403],
    ['/both', { ats_enabled: true, obs_enabled: true }, 200],
    ['/both', { ats_enabled: true, obs_enabled: null }, 403],
  ])('@RequireFlags() lets at %s a user with %o: %i', async (path, record, status) => {
    expect(await statusOf(record, path)).toBe(status);
  });

  it.each([
    ['/clients/7/companies/70', { client_id: 7, company_id: 70 }, 200],
    ['/clients/7/companies/71', { client_id: 7, company_id: 70 }, 403],
    ['/clients/8/companies/70', { client_id: 7, company_id: 70 }, 403],
    ['/clients/7/companies/70', { client_id: 7 }, 403],
    ['/misnamed/7?clientId=7', { client_id: 7 }, 403],
  ])('@CclScope() lets at %s a user with the ids %o: %i', async (path, ids, status) => {
    expect(await statusOf({ ccl_info: ids }, path)).toBe(status);
  });

  it.each([
    [{ role: 'manager', ccl_info: { client_id: 7 } }, '/clients/7', 200],
    [{ role: 'manager', ccl_info: { client_id: 8 } }, '/clients/7', 403],
    [{ role: 'clerk', ccl_info: { client_id: 7 } }, '/clients/7', 403],
  ])(
    'a decorator of the application that is composed of these holds all of them: %o at %s gets %i',
    async (record, path, status) => {
      expect(await statusOf(record, path)).toBe(status);
    },
  );

  it('no spelling of another id admits the user to a client, and the own id does', async () => {
    const service = await bed.service();
    const token = service.signInAs({ role: 'manager', ccl_info: { client_id: 7 } });
    const app = await bed.sample({
      baseUrl: service.url,
      options: { cache: { ttlMs: 60_000 } },
      controllers: [ManagedController],
    });
    const ids = fc.oneof(
      fc.integer().map(String),
      fc.constantFrom('7', '+7', '7e0', '0x7', '７', '7,8', '[7]'),
      fc.string({ minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(ids, async (id) => {
        fc.pre(id !== '.' && id !== '..');
        const { status } = await app.get(`/clients/${encodeURIComponent(id)}`, token);
        expect(status === 200).toBe(id === '7');
      }),
      { numRuns: 150 },
    );
  });
});
