import { expect, it } from '@jest/globals';
import { Controller, Get, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { enhancersOf } from '../guard/enhancers.js';
import { ContextKindsModule } from '../module/context-kinds.module.js';

async function filtersAfterStarts(owner: Type, starts = 1): Promise<number> {
  @Module({ imports: [ContextKindsModule], providers: [owner] })
  class Root {}
  for (let start = 0; start < starts; start += 1)
    await NestFactory.createApplicationContext(Root, { logger: false, abortOnError: false });
  return enhancersOf(owner, 'filter').length;
}

@Controller()
class Messages {
  @MessagePattern('say') say(): string {
    return 'said';
  }
}

@Controller()
class Routes {
  @Get() say(): string {
    return 'said';
  }
}

it('the filter of denied events is applied once to a class with message handlers, in however many applications, and to no other', async () => {
  expect(await filtersAfterStarts(Messages, 2)).toBe(1);
  expect(await filtersAfterStarts(Routes)).toBe(0);
});
