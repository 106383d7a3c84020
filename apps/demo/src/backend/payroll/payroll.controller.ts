import { Controller, HttpCode, HttpStatus, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, FreshSession, Roles } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';

/** Moves money, and therefore requires a fresh check instead of a cached session. */
@ApiTags('payroll')
@ApiSessionAuth()
@Roles('hiring_manager')
@Controller('api/payroll')
export class PayrollController {
  @Post('run')
  @FreshSession()
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiAcceptedResponse({ description: 'The run is ordered' })
  run(@CurrentUser('username') username: string | undefined): { readonly orderedBy: string } {
    return { orderedBy: username ?? 'unknown' };
  }
}
