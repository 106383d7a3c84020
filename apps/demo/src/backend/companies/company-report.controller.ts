import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CclScope } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';

/** The report of a company, for its own users only. */
@ApiTags('companies')
@ApiSessionAuth()
@Controller('api/companies/:companyId/report')
export class CompanyReportController {
  @Get()
  @CclScope({ company_id: 'companyId' })
  @ApiOkResponse({ description: 'The report of the company' })
  read(@Param('companyId') companyId: string): {
    readonly companyId: string;
    readonly openPositions: number;
  } {
    return { companyId, openPositions: 3 };
  }
}
