import { describe, expect, it } from '@jest/globals';
import { applyDecorators, Controller, Get, UseGuards } from '@nestjs/common';
import * as fc from 'fast-check';
import { CclScope, Roles, SessionAuthGuard } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';

const ClientManagers = () =>
  applyDecorators(UseGuards(SessionAuthGuard), Roles('manager'), CclScope({ client_id: 'clientId' }));

@Controller()
class DomainController {
  @Get('clients/:clientId/companies/:companyId')
  @CclScope({ client_id: 'clientId', company_id: 'companyId' })
  company(): string {
    return 'company';
  }

  @Get('clients/:clientId') @ClientManagers() client(): string {
    return 'client';
  }
}

describe.each(PLATFORMS)('the rules of the domain on %s', (_name, platform) => {
  const options = { cache: { ttlMs: 60_000 } };
  const shared = sharedSample({ controllers: [DomainController], options }, platform);

  async function statusOf(record: object, path: string): Promise<number> {
    return (await shared.app.get(path, shared.service.signInAs(record))).status;
  }

  it.each([
    ['/clients/7/companies/70', { client_id: 7, company_id: 70 }, 200],
    ['/clients/7/companies/71', { client_id: 7, company_id: 70 }, 403],
  ])('@CclScope() lets at %s a user with the ids %o: %i', async (path, ids, status) => {
    expect(await statusOf({ ccl_info: ids }, path)).toBe(status);
  });

  it('no spelling of another id admits the user to a client, and the own id does', async () => {
    const ccl_info = { client_id: 7 };
    expect(await statusOf({ role: 'clerk', ccl_info }, '/clients/7')).toBe(403);
    const token = shared.service.signInAs({ role: 'manager', ccl_info });
    const ids = fc.oneof(
      fc.integer().map(String),
      fc.constantFrom('7', '+7', '7e0', '0x7', '７', '7,8', '[7]'),
      fc.string({ minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(ids, async (id) => {
        fc.pre(id !== '.' && id !== '..');
        const { status } = await shared.app.get(`/clients/${encodeURIComponent(id)}`, token);
        expect(status === 200).toBe(id === '7');
      }),
      { numRuns: 150 },
    );
  });
});
