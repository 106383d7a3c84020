// The same test for every test runner. Each name is a column of docs/compatibility.md.
import 'reflect-metadata';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { TestSessions } from 'nestjs-session-auth/testing';
import request from 'supertest';
import { AppModule } from '../src/app.module.js';

describe('an application', () => {
  const sessions = new TestSessions();
  let app: INestApplication;
  const ask = (path: string, headers: object = {}) =>
    request(app.getHttpServer())
      .get(path)
      .set(headers as Record<string, string>);

  beforeAll(async () => {
    const moduleRef = await sessions.install(Test.createTestingModule({ imports: [AppModule] })).compile();
    app = await moduleRef.createNestApplication().init();
  });

  afterAll(() => app.close());

  it('200', async () => {
    await ask('/me', sessions.signInAs({ username: 'ann' })).expect(200, {
      username: 'ann',
      isUserRecord: true,
    });
    await ask('/managers', sessions.signInAs({ role: 'hiring_manager' })).expect(200);
  });

  it('401', async () => {
    await ask('/me').expect(401);
    const headers = sessions.signInAs();
    await ask('/me', headers).expect(200);
    sessions.revoke(headers);
    const { body } = await ask('/me', headers)
      .expect(401)
      .expect('www-authenticate', /error="invalid_token"/);
    expect(body).toMatchObject({ statusCode: 401, code: 'SESSION_REJECTED' });
  });

  it('403', async () => {
    const { body } = await ask('/managers', sessions.signInAs({ role: 'new_hire' })).expect(403);
    expect(body).toMatchObject({ statusCode: 403, code: 'ACCESS_DENIED' });
  });

  it('503', async () => {
    const headers = sessions.signInAs();
    sessions.setDown(true);
    const { body } = await ask('/me', headers).expect(503).expect('retry-after', /^\d+$/);
    expect(body).toMatchObject({ statusCode: 503, code: 'SESSION_SERVICE_UNAVAILABLE' });
    sessions.setDown(false);
    await ask('/me', headers).expect(200);
  });

  it('injection', async () => {
    await ask('/injected', sessions.signInAs({ username: 'ann' })).expect(200, { username: 'ann' });
  });

  it('errors', async () => {
    const headers = sessions.signInAs({ role: 'new_hire' });
    await ask('/filtered', headers).expect(403, { isSessionAuthError: true, isAccessDenied: true });
    const { body } = await ask('/thrown', headers).expect(403);
    expect(body).toMatchObject({ statusCode: 403, code: 'ACCESS_DENIED' });
  });
});
