import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Post,
  Req,
  Sse,
  UseGuards,
  type INestApplication,
  type MessageEvent,
} from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { Readable } from 'node:stream';
import { CurrentUser, Roles, SessionAuthGuard, Public, type UserRecord } from 'nestjs-session-auth';
import { from, type Observable } from 'rxjs';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';
import { testbed } from '../support/testbed.js';

let runs = 0;

@Controller()
@UseGuards(SessionAuthGuard)
class StreamsController {
  @Sse('events')
  events(@CurrentUser() user: UserRecord): Observable<MessageEvent> {
    runs += 1;
    return from([{ data: `${user.username} 1` }, { data: `${user.username} 2` }]);
  }

  @Post('upload')
  @Roles('hiring_manager')
  async upload(
    @Req() request: { readonly raw?: Readable; readonly body?: unknown } & Readable,
  ): Promise<number> {
    runs += 1;
    let bytes = 0;
    for await (const chunk of request.raw ?? request) bytes += (chunk as Buffer).length;
    return bytes;
  }
}

const BODY = Buffer.alloc(300_000, 'x');

/** Express leaves a body of this type unread; Fastify needs a setting. */
function passBodiesOn(app: INestApplication): void {
  const instance: unknown = app.getHttpAdapter().getInstance();
  if (app.getHttpAdapter().getType() !== 'fastify') return;
  (instance as FastifyInstance).addContentTypeParser('application/octet-stream', (_request, _payload, done) =>
    done(null),
  );
}

describe.each(PLATFORMS)('on %s', (_name, platform) => {
  const bed = testbed(platform);

  it('a stream of events begins for a valid session only', async () => {
    runs = 0;
    const service = await bed.service();
    const app = await bed.sample({ baseUrl: service.url, controllers: [StreamsController] });
    for (const token of [undefined, 'bad']) {
      const refused = await app.get('/events', token, { accept: 'text/event-stream' });
      expect([refused.status, refused.headers.get('content-type')]).toEqual([
        401,
        expect.stringContaining('application/json'),
      ]);
    }
    expect(runs).toBe(0);

    const stream = await app.get('/events', service.signInAs({}), { accept: 'text/event-stream' });
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect((await stream.text()).match(/data: .*/g)).toEqual(['data: ann 1', 'data: ann 2']);
  });

  it('an upload reaches its handler for an admitted user only', async () => {
    runs = 0;
    const service = await bed.service();
    const app = await bed.sample(
      { baseUrl: service.url, controllers: [StreamsController] },
      { configure: passBodiesOn },
    );
    const upload = async (token: string): Promise<Response> => {
      const headers = { 'content-type': 'application/octet-stream', 'x-auth-token': token };
      return fetch(`${app.url}/upload`, { method: 'POST', headers, body: BODY });
    };

    expect(await always(async () => (await upload('bad')).status)).toBe(401);
    const newHire = service.signInAs({ role: 'new_hire' });
    expect(await always(async () => (await upload(newHire)).status)).toBe(403);
    expect(runs).toBe(0);
    const done = await upload(service.signInAs({ role: 'hiring_manager' }));
    expect([done.status, await done.text()]).toEqual([201, String(BODY.length)]);
  });
});

@UseGuards(SessionAuthGuard)
@Roles('boss')
abstract class BaseController {
  @Get('list')
  list(): string {
    return 'list';
  }

  @Get('item')
  @Roles('clerk')
  item(): string {
    return 'item';
  }

  @Get('about')
  @Public()
  about(): string {
    return 'about';
  }
}

@Controller('plain')
class PlainController extends BaseController {}

@Controller('strict')
@Roles('admin')
class StrictController extends BaseController {}

@Controller('open')
@Public()
class OpenController extends BaseController {}

@Controller('rewritten')
class RewrittenController extends BaseController {
  @Get('item')
  override item(): string {
    return 'rewritten';
  }
}

describe.each(PLATFORMS)('a controller that extends another on %s', (_name, platform) => {
  const controllers = [PlainController, StrictController, OpenController, RewrittenController];
  const shared = sharedSample({ controllers }, platform);

  it.each([
    ['/plain/list', 'boss'],
    ['/plain/item', 'clerk'],
    ['/strict/list', 'admin'],
    ['/strict/item', 'clerk'],
    ['/open/list', 'boss'],
    ['/open/item', 'clerk'],
    ['/rewritten/list', 'boss'],
    ['/rewritten/item', 'boss'],
  ])('admits at %s only the role %s', async (path, admitted) => {
    const { service, app } = shared;
    const roles = ['boss', 'clerk', 'admin'];
    const statuses = await Promise.all(
      roles.map(async (role) => (await app.get(path, service.signInAs({ role }, role))).status),
    );

    expect(roles.filter((_role, index) => statuses[index] === 200)).toEqual([admitted]);
    expect((await app.get(path)).status).toBe(401);
  });

  it.each(['/plain/about', '/strict/about', '/open/about'])(
    'keeps the public handlers that it inherits: %s',
    async (path) => {
      const { service, app } = shared;

      expect((await app.get(path)).status).toBe(200);
      expect(service.requests).toHaveLength(0);
    },
  );

  it('leaves the one it extends as it was', async () => {
    const { service, app } = shared;
    const admin = service.signInAs({ role: 'admin' });

    expect((await app.get('/strict/list', admin)).status).toBe(200);
    expect(await always(async () => (await app.get('/plain/list', admin)).status)).toBe(403);
  });
});
