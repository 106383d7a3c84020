import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, OptionalAuth, type UserRecord } from 'nestjs-session-auth';

/** Greets every caller, and signed-in users by name. */
@ApiTags('greeting')
@OptionalAuth()
@Controller('api/greeting')
export class GreetingController {
  @Get()
  @ApiOkResponse({ description: 'A greeting, with or without a session' })
  greet(@CurrentUser() user: UserRecord | undefined): { readonly greeting: string } {
    return {
      greeting: user
        ? `Welcome back, ${user.first_name ?? user.username ?? 'colleague'}!`
        : 'Welcome, stranger!',
    };
  }
}
