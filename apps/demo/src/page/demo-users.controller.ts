import { Controller, Get } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Public } from 'nestjs-session-auth';
import { type DemoConfig } from '../settings/demo-config.js';
import { DemoUser } from '../session-service/demo-user.js';

/** Whom the page offers to sign in as. Empty with a real session service, whose passwords the demo doesn't know. */
@Public()
@ApiTags('demo')
@Controller('api/demo-users')
export class DemoUsersController {
  constructor(private readonly config: ConfigService<DemoConfig, true>) {}

  @Get()
  @ApiOkResponse({ type: [DemoUser] })
  list(): readonly DemoUser[] {
    return this.config.get('DEMO_USERS', { infer: true });
  }
}
