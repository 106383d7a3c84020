import { Controller, Get, HttpCode, HttpStatus, NotFoundException, Param, Post } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { CurrentUser, Roles, SubRoles, UserRecord } from 'nestjs-session-auth';
import { ApiSessionAuth } from 'nestjs-session-auth/swagger';
import { Opening } from './opening.js';
import { OpeningsService } from './openings.service.js';

/** Hiring managers read openings; approvers among them approve openings. */
@ApiTags('openings')
@ApiSessionAuth()
@Roles('hiring_manager')
@Controller('api/openings')
export class OpeningsController {
  constructor(private readonly openings: OpeningsService) {}

  @Get()
  @ApiOkResponse({ type: [Opening] })
  list(): Opening[] {
    return this.openings.list();
  }

  @Post(':id/approval')
  @SubRoles('approver')
  @HttpCode(HttpStatus.OK)
  @ApiOkResponse({ type: Opening })
  @ApiNotFoundResponse({ description: 'No opening has this id' })
  approve(@Param('id') id: string, @CurrentUser() user: UserRecord): Opening {
    const approved = this.openings.approve(id, user.username ?? user.email ?? 'unknown');
    if (!approved) throw new NotFoundException('No opening has this id.');
    return approved;
  }
}
