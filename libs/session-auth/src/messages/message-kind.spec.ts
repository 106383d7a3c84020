import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { enhancersOf } from '../guard/enhancers.js';
import { ContextKindsModule } from '../module/context-kinds.module.js';

async function filtersAfterStarts(owner: Type, starts = 1): Promise<number> {
  @Module({ imports: [ContextKindsModule], providers: [owner] })
  class Root {}
  for (let start = 0; start < starts; start += 1)
    await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  return enhancersOf(owner, 'filter').length;
}

describe('the filter of denied events', () => {
  it('is applied once to a class with message handlers, in however many applications', async () => {
    @Controller()
    class Messages {
      @MessagePattern('say') say(): string {
        return 'said';
      }
      @MessagePattern('sing') sing(): string {
        return 'sung';
      }
    }
    expect(await filtersAfterStarts(Messages, 2)).toBe(1);
  });

  it('is not applied to routes and gateways', async () => {
    @Controller()
    class Routes {
      @Get() say(): string {
        return 'said';
      }
    }
    @WebSocketGateway()
    class Gateway {
      @SubscribeMessage('say') say(): string {
        return 'said';
      }
    }
    expect([await filtersAfterStarts(Routes), await filtersAfterStarts(Gateway)]).toEqual([0, 0]);
  });
});
