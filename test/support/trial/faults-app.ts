import { Body, Controller, Delete, Get, Headers, HttpCode, Post, UseGuards } from '@nestjs/common';
import {
  CurrentUser,
  Roles,
  SessionAuthGuard,
  SessionAuthService,
  SubRoles,
  type Credentials,
  type UserRecord,
} from 'nestjs-session-auth';

/** Counts the guarded handlers that ran. */
export class HandlerRuns {
  count = 0;
}

/** The routes of an application that every row is tried on. */
@Controller()
export class FaultsController {
  constructor(
    private readonly sessions: SessionAuthService,
    private readonly runs: HandlerRuns,
  ) {}

  @Get('me')
  @UseGuards(SessionAuthGuard)
  me(@CurrentUser() user: UserRecord): UserRecord {
    this.runs.count += 1;
    return user;
  }

  @Get('hm')
  @UseGuards(SessionAuthGuard)
  @Roles('hiring_manager')
  hiringManagers(): string {
    this.runs.count += 1;
    return 'in';
  }

  @Get('sub')
  @UseGuards(SessionAuthGuard)
  @SubRoles('approver')
  approvers(): string {
    this.runs.count += 1;
    return 'in';
  }

  @Get('pub')
  open(): string {
    return 'open';
  }

  @Post('login')
  @HttpCode(200)
  async login(@Body() credentials: Credentials, @Headers('x-auth-iv') authIv: string): Promise<string> {
    return (await this.sessions.signIn(credentials, { authIv })).kind;
  }

  @Delete('logout')
  async logout(@Headers('x-auth-token') token: string, @Headers('x-auth-iv') authIv: string): Promise<void> {
    await this.sessions.signOut(token, { authIv });
  }
}
