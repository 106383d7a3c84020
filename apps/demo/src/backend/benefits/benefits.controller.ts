import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Authorize, CurrentUser, RequireFlags } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';

/** Health plans, for users whose employer offers them. */
@ApiTags('benefits')
@ApiSessionAuth()
@Controller('api/benefits')
export class BenefitsController {
  @Get()
  @RequireFlags('benestream_enabled')
  @ApiOkResponse({ description: 'The plans to choose from' })
  list(): readonly string[] {
    return ['Basic plan', 'Family plan'];
  }

  @Get('advice')
  @Authorize((user) => user.help_checkbox === true)
  @ApiOkResponse({ description: 'Advice, for users who requested help' })
  advise(@CurrentUser('preffered_language') language: string | undefined): {
    readonly language: string;
    readonly advice: string;
  } {
    return { language: language ?? 'en', advice: 'Compare the plans before your first day.' };
  }
}
