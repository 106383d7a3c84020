import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, UserRecord } from 'nestjs-session-auth';
import { ApiSignedIn } from '../docs/api-signed-in.decorator.js';

/** Who is signed in. */
@ApiTags('session')
@Controller('api/me')
export class MeController {
  @Get()
  @ApiSignedIn()
  @ApiOkResponse({ description: 'The user record, without its token' })
  read(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }
}
