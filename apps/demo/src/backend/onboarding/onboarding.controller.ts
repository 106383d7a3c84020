import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, Roles, UserRecord } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';

/** What a new hire is to do before the first day. */
export interface OnboardingPlan {
  readonly greeting: string;
  readonly steps: readonly string[];
}

/** Only new hires see it. */
@ApiTags('onboarding')
@ApiSessionAuth()
@Roles('new_hire')
@Controller('api/onboarding')
export class OnboardingController {
  @Get()
  @ApiOkResponse({ description: 'The plan for the user who is signed in' })
  read(@CurrentUser() user: UserRecord): OnboardingPlan {
    return {
      greeting: `Welcome, ${user.first_name ?? user.username ?? 'new colleague'}!`,
      steps: ['Sign the contract', 'Choose your equipment', 'Meet your team'],
    };
  }
}
