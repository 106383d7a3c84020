import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, Roles, UserRecord } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';

/** The steps of a new hire before the first day. */
export interface OnboardingPlan {
  readonly greeting: string;
  readonly steps: readonly string[];
}

/** The onboarding plan, for new hires only. */
@ApiTags('onboarding')
@ApiSessionAuth()
@Roles('new_hire')
@Controller('api/onboarding')
export class OnboardingController {
  @Get()
  @ApiOkResponse({ description: 'The plan of the signed-in user' })
  read(@CurrentUser() user: UserRecord): OnboardingPlan {
    return {
      greeting: `Welcome, ${user.first_name ?? user.username ?? 'new colleague'}!`,
      steps: ['Sign the contract', 'Choose your equipment', 'Meet your team'],
    };
  }
}
