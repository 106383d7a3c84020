import { Body, Controller, HttpCode, HttpStatus, NotFoundException, Post, Put, UseGuards } from '@nestjs/common';
import { type Mischief } from '../../session-service/connected-session-service.js';
import { ConsoleParts } from '../console-parts.js';
import { GuardActivity } from '../live/guard-activity.js';
import { CacheDto, FaultDto } from './controls.dto.js';
import { OwnPageGuard } from './own-page.guard.js';

/** The buttons that only a demo with its own session service has. */
@UseGuards(OwnPageGuard)
@Controller('console')
export class ControlsController {
  constructor(
    private readonly parts: ConsoleParts,
    private readonly activity: GuardActivity,
  ) {}

  @Put('fault')
  @HttpCode(HttpStatus.NO_CONTENT)
  async ail(@Body() { fault }: FaultDto): Promise<void> {
    await this.mischief.ail(fault);
  }

  @Post('end-sessions')
  @HttpCode(HttpStatus.OK)
  async endSessions(): Promise<{ readonly ended: number }> {
    return { ended: await this.mischief.endAllSessions() };
  }

  @Put('cache')
  @HttpCode(HttpStatus.NO_CONTENT)
  async remember(@Body() { ttlSeconds, refreshAhead, staleIfError }: CacheDto): Promise<void> {
    await this.parts.backend.restart({ ttlSeconds, refreshAhead, staleIfError });
  }

  @Post('reset')
  @HttpCode(HttpStatus.NO_CONTENT)
  countAnew(): void {
    this.activity.reset();
  }

  private get mischief(): Mischief {
    const { mischief } = this.parts;
    if (!mischief) throw new NotFoundException('Only the embedded session service has this button.');
    return mischief;
  }
}
