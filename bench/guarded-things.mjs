// A guarded controller, and calls of it without a network, for benchmarks that call the guard themselves.
import 'reflect-metadata';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Controller, Get, UseGuards } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { SessionAuthGuard } from 'nestjs-session-auth';

export class Things {
  list() {
    return [];
  }
}
Get()(Things.prototype, 'list', Object.getOwnPropertyDescriptor(Things.prototype, 'list'));
UseGuards(SessionAuthGuard)(Things);
Controller('things')(Things);

/** Returns the context of a request that presents a token. */
export function contextOf(token) {
  const request = new IncomingMessage(new Socket());
  request.headers['x-auth-token'] = token;
  const context = new ExecutionContextHost(
    [request, new ServerResponse(request)],
    Things,
    Things.prototype.list,
  );
  context.setType('http');
  return context;
}
