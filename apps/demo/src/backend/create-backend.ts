import { type INestApplication } from '@nestjs/common';
import { type AbstractHttpAdapter } from '@nestjs/core';
import { createApp } from '../serving/create-app.js';
import { type BackendConfig } from './backend-config.js';
import { BackendModule } from './backend.module.js';
import { serveDocs } from './docs/serve-docs.js';

/** Creates the backend, initialized and ready to handle requests. */
export function createBackend(
  config: BackendConfig,
  adapter: AbstractHttpAdapter,
): Promise<INestApplication> {
  return createApp(BackendModule.with(config), adapter, serveDocs);
}
