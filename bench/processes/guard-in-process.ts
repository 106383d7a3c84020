import 'reflect-metadata';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { CanActivate, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { sampleApp } from '../variants/sample-app.js';
import { VARIANTS, type VariantName } from '../variants/variants.js';
import type { VariantSetup } from '../variants/variant.js';

/** Which guard is wanted. */
export interface GuardOrder extends VariantSetup {
  readonly variant: VariantName;
}

/** A guard as Nest has built it, to be called without a network in between. */
export interface GuardInProcess {
  readonly guard: CanActivate;
  /** A new request that presents a token, with its reply: Node's own, as in an application. */
  readonly newContext: (token: string) => ExecutionContextHost;
}

/** Builds the application of a variant and takes the guard out of it. */
export async function guardInProcess({ variant, ...setup }: GuardOrder): Promise<GuardInProcess> {
  const root = sampleApp((await VARIANTS[variant]()).variant(setup));
  const app = await NestFactory.create(root, { logger: false, abortOnError: false });
  await app.init();
  const [, controller] = root.controllers as [Type, Type];
  const handler = (controller.prototype as { list: () => unknown }).list;
  const [guardClass] = Reflect.getMetadata('__guards__', controller) as [Type<CanActivate>];
  return {
    guard: app.get(guardClass, { strict: false }),
    newContext(token) {
      const request = new IncomingMessage(new Socket());
      Object.assign(request.headers, {
        host: '127.0.0.1',
        'user-agent': 'bench',
        accept: '*/*',
        'x-auth-token': token,
      });
      const context = new ExecutionContextHost([request, new ServerResponse(request)], controller, handler);
      context.setType('http');
      return context;
    },
  };
}
