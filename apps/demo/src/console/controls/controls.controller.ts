import {
  Body,
  Controller,
  HttpCode,
  HttpStatus,
  NotFoundException,
  Post,
  Put,
  UseGuards,
} from '@nestjs/common';
import { SameOriginGuard } from 'nestjs-session-auth/browsers';
import { type ServiceControls } from '../../session-service/connected-session-service.js';
import { ConsoleParts } from '../console-parts.js';
import { GuardActivity } from '../live/guard-activity.js';
import { CacheDto, FaultDto } from './controls.dto.js';
import { NoSceneGuard } from './no-scene.guard.js';

/** The controls of the page, which exist only with the embedded session service. */
@UseGuards(SameOriginGuard, NoSceneGuard)
@Controller('console')
export class ControlsController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly activity: GuardActivity,
  ) {}

  @Put('fault')
  @HttpCode(HttpStatus.NO_CONTENT)
  async setFault(@Body() { fault }: FaultDto): Promise<void> {
    await this.serviceControls.setFault(fault);
  }

  @Post('end-sessions')
  @HttpCode(HttpStatus.OK)
  async endSessions(): Promise<{ readonly ended: number }> {
    return { ended: await this.serviceControls.endAllSessions() };
  }

  @Put('cache')
  @HttpCode(HttpStatus.NO_CONTENT)
  async setCache(@Body() { ttlSeconds, refreshAhead, staleIfError }: CacheDto): Promise<void> {
    await this.parts.backend.restart({ ttlSeconds, refreshAhead, staleIfError });
  }

  @Post('reset')
  @HttpCode(HttpStatus.NO_CONTENT)
  resetCounts(): void {
    this.activity.reset();
  }

  private get serviceControls(): ServiceControls {
    const { serviceControls } = this.parts;
    if (!serviceControls)
      throw new NotFoundException(
        'This control needs the embedded session service: start the demo without SESSION_SERVICE_URL.',
      );
    return serviceControls;
  }
}
