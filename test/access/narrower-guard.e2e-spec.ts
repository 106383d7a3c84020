import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, UseGuards } from '@nestjs/common';
import { OptionalAuth, Public, SessionAuthGuard } from 'nestjs-session-auth';
import { accessMapOf } from 'nestjs-session-auth/testing';
import { PLATFORMS, startApp } from '../support/platforms.js';
import { bootstrapError, sampleApp } from '../support/sample-app.js';
import { testbed } from '../support/testbed.js';

@Injectable()
class OtherGuard {
  canActivate(): boolean {
    return true;
  }
}

@Injectable()
class OwnGuard extends SessionAuthGuard {}

@Controller('on-handler')
@Public()
class OnHandler {
  @Get('closed') @UseGuards(SessionAuthGuard) closed(): string {
    return 'in';
  }

  @Get('own') @UseGuards(OwnGuard) own(): string {
    return 'in';
  }

  @Get('other') @UseGuards(OtherGuard) other(): string {
    return 'in';
  }

  @Get('open') open(): string {
    return 'in';
  }
}

@Public()
class PublicBase {
  @Get('inherited') inherited(): string {
    return 'in';
  }
}

@Controller('on-subclass')
@UseGuards(SessionAuthGuard)
class OnSubclass extends PublicBase {
  @Get('open') @Public() open(): string {
    return 'in';
  }
}

@Controller('without')
@UseGuards(OtherGuard)
class Without extends PublicBase {}

@OptionalAuth()
class OptionalBase {
  @Get('inherited') inherited(): string {
    return 'in';
  }
}

@Controller('optional')
@UseGuards(SessionAuthGuard)
class OnOptional extends OptionalBase {
  @Get('named') @UseGuards(SessionAuthGuard) named(): string {
    return 'in';
  }
}

it('a guard under an inherited @OptionalAuth(), which still admits callers without a session, is named by the audit', async () => {
  const options = { audit: 'error' } as const;
  const root = sampleApp({ baseUrl: 'http://127.0.0.1:1', controllers: [OnOptional], options });
  const { message } = await bootstrapError(root);
  for (const name of ['inherited', 'named'])
    expect(message).toContain(`OnOptional.${name} has SessionAuthGuard under @OptionalAuth()`);
});

describe.each(PLATFORMS)('a guard below an opening on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each([{}, { protectAllRoutes: true }])(
    'closes a handler or a class under @Public() of its controller or of a base class, with %j [P45]',
    async (options) => {
      const service = await bed.service();
      const running = await startApp(
        platform,
        sampleApp({ baseUrl: service.url, options, controllers: [OnHandler, OnSubclass, Without] }),
      );
      const token = service.signInAs({ role: 'clerk' }, 'clerk');
      const statuses: Record<string, number[]> = {};
      for (const { call } of accessMapOf(running.app)) {
        const path = call.replace('GET ', '');
        statuses[path] = [(await running.get(path)).status, (await running.get(path, token)).status];
      }
      const map = accessMapOf(running.app).map(({ call, access }) => [call.replace('GET ', ''), access]);
      await running.close();

      expect(statuses).toEqual({
        '/on-handler/closed': [401, 200],
        '/on-handler/own': [401, 200],
        '/on-handler/other': [200, 200],
        '/on-handler/open': [200, 200],
        '/on-subclass/inherited': [401, 200],
        '/on-subclass/open': [200, 200],
        '/without/inherited': [200, 200],
      });
      expect(map).toEqual(
        Object.keys(statuses)
          .sort()
          .map((path) => [path, statuses[path]?.[0] === 401 ? 'protected' : 'public']),
      );
    },
  );
});
