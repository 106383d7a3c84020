import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { CclScope } from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';

@Controller()
class DomainController {
  @Get('clients/:clientId/companies/:companyId')
  @CclScope({ client_id: 'clientId', company_id: 'companyId' })
  company(): string {
    return 'company';
  }
}

describe.each(PLATFORMS)('the rules of the domain on %s', (_name, platform) => {
  const shared = sharedSample({ controllers: [DomainController] }, platform);

  it.each([
    ['/clients/7/companies/70', { client_id: 7, company_id: 70 }, 200],
    ['/clients/7/companies/71', { client_id: 7, company_id: 70 }, 403],
  ])('@CclScope() lets at %s a user with the ids %o: %i', async (path, ids, status) => {
    const token = shared.service.signInAs({ ccl_info: ids });
    expect((await shared.app.get(path, token)).status).toBe(status);
  });
});
