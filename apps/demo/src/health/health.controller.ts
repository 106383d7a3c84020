import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Public } from 'nestjs-session-auth';

/** Whether this process answers; asks nobody else. */
@Public()
@ApiTags('health')
@Controller('api/health')
export class HealthController {
  @Get()
  @ApiOkResponse({ description: 'The process answers' })
  read(): { readonly status: 'ok' } {
    return { status: 'ok' };
  }
}
