import { Controller, HttpCode, HttpStatus, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, FreshSession, Roles } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';

/** Moves money: what is remembered of a session is not good enough. */
@ApiTags('payroll')
@ApiSessionAuth()
@Roles('hiring_manager')
@Controller('api/payroll')
export class PayrollController {
  @Post('run')
  @FreshSession()
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiAcceptedResponse({ description: 'The run was ordered' })
  run(@CurrentUser('username') username: string | undefined): { readonly orderedBy: string } {
    return { orderedBy: username ?? 'unknown' };
  }
}
