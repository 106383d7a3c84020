import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, UserRecord } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';

/** The signed-in user. */
@ApiTags('session')
@Controller('api/me')
export class MeController {
  @Get()
  @ApiSessionAuth()
  @ApiOkResponse({ description: 'The user record, without its token', type: UserRecord })
  read(@CurrentUser() user: UserRecord): UserRecord {
    return user;
  }
}
