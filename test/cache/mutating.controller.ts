import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { CurrentUser, SessionAuthGuard, type UserRecord } from 'nestjs-session-auth';
import { HandlerRuns } from '../support/trial/faults-app.js';

type Loose = Record<string, unknown> & { ccl_info: Record<string, unknown> };

/** Tries to make more of its user than the service said. */
@Controller()
@UseGuards(SessionAuthGuard)
export class MutatingController {
  constructor(private readonly runs: HandlerRuns) {}

  @Get('me')
  me(@CurrentUser() user: UserRecord): UserRecord {
    this.runs.count += 1;
    return user;
  }

  @Get('change')
  change(@Req() request: { user: Loose }): unknown {
    this.runs.count += 1;
    const asItWas = structuredClone(Object.assign({}, request.user));
    for (const change of [
      () => (request.user.role = 'admin'),
      () => (request.user.ccl_info.client_id = 1),
      () => Object.setPrototypeOf(request.user, { sub_role: 'admin' }) as unknown,
    ]) {
      try {
        change();
      } catch {
        // A frozen user throws; the test checks the user of the next request.
      }
    }
    request.user = { role: 'admin', ccl_info: {} };
    return asItWas;
  }
}
