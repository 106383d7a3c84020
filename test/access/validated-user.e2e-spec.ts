import { describe, expect, it } from '@jest/globals';
import { Controller, Get, UseGuards, ValidationPipe, type ValidationPipeOptions } from '@nestjs/common';
import {
  AuthToken,
  CurrentSession,
  CurrentUser,
  SessionAuthGuard,
  SessionRecord,
  UserRecord,
  type PresentedSession,
} from 'nestjs-session-auth';
import { PLATFORMS } from '../support/platforms.js';
import { testbed } from '../support/testbed.js';

@Controller()
@UseGuards(SessionAuthGuard)
class UserController {
  @Get('class')
  ofClass(@CurrentUser() user: UserRecord, @SessionRecord() record: UserRecord): unknown {
    return [user, record, 5, 5];
  }

  type(user: UserRecord, record: UserRecord, token: string, session: PresentedSession): unknown {
    return [user, record, token.length, session.token.length];
  }
}
const routes = UserController.prototype;
// As TypeScript emits it with `import { type UserRecord }`: the compiler of the tests reads one file.
Reflect.defineMetadata('design:paramtypes', [Function, Function, String, Object], routes, 'type');
const decorators: ParameterDecorator[] = [CurrentUser(), SessionRecord(), AuthToken(), CurrentSession()];
for (const [index, decorate] of decorators.entries()) decorate(routes, 'type', index);
Get('type')(routes, 'type', Object.getOwnPropertyDescriptor(routes, 'type') ?? {});

const ANN = { username: 'ann', role: 'new_hire', ccl_info: { client_id: 7 } };

describe.each(PLATFORMS)('the user of a request, validated on %s', (_name, platform) => {
  const bed = testbed(platform);

  it.each<[string, ValidationPipeOptions]>([
    ['without decorators of its own', {}],
    ['whatever the decorator, and transformed', { validateCustomDecorators: true, transform: true }],
  ])('is the record by its class and by its type: %s', async (_which, options) => {
    const service = await bed.service();
    const pipe = new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, ...options });
    const app = await bed.sample(
      { baseUrl: service.url, controllers: [UserController] },
      { configure: (created) => void created.useGlobalPipes(pipe) },
    );
    for (const path of ['/class', '/type']) {
      const reply = await app.get(path, service.signInAs(ANN, 'token'));
      expect([path, reply.status, await reply.json()]).toMatchObject([path, 200, [ANN, ANN, 5, 5]]);
    }
  });
});
