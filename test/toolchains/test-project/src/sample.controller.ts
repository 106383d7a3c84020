import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import {
  AuthToken,
  CurrentUser,
  Roles,
  SessionAuthGuard,
  SessionAuthService,
  UserRecord,
} from 'nestjs-session-auth';
import { AccessDeniedError, SessionAuthError } from 'nestjs-session-auth/errors';

interface Reply {
  status(code: number): { json(body: unknown): void };
}

@Catch(SessionAuthError)
export class SessionFilter implements ExceptionFilter<SessionAuthError> {
  catch(error: SessionAuthError, host: ArgumentsHost): void {
    const seen = {
      isSessionAuthError: error instanceof SessionAuthError,
      isAccessDenied: error instanceof AccessDeniedError,
    };
    host.switchToHttp().getResponse<Reply>().status(error.statusCode).json(seen);
  }
}

@UseGuards(SessionAuthGuard)
@Controller()
export class SampleController {
  constructor(private readonly sessions: SessionAuthService) {}

  @Get('me') me(@CurrentUser() user: UserRecord): unknown {
    return { username: user.username, isUserRecord: user instanceof UserRecord };
  }

  @Get('managers') @Roles('hiring_manager') managers(): string {
    return 'managers';
  }

  @Get('injected') async injected(@AuthToken() token: string): Promise<unknown> {
    return { username: (await this.sessions.verify(token)).username };
  }

  @Get('filtered') @Roles('hiring_manager') @UseFilters(SessionFilter) filtered(): string {
    return 'managers';
  }

  @Get('thrown') thrown(): void {
    throw new AccessDeniedError();
  }
}
