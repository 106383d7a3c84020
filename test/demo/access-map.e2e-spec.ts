import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { accessMapOf } from 'nestjs-session-auth/testing';
import { createBackend } from '../../apps/demo/src/backend/create-backend.js';

describe('the backend of the demo', () => {
  let app: INestApplication;

  beforeAll(async () => {
    const config = {
      SESSION_SERVICE_URL: 'https://sessions.example.com',
      SESSION_SERVICE_API_KEY: 'key',
      SESSION_CACHE: false,
    } as const;
    app = await createBackend(config, new ExpressAdapter());
  });
  afterAll(() => app.close());

  it('grants each caller the access of the snapshot', () => {
    expect(accessMapOf(app)).toMatchSnapshot();
  });
});
