import 'reflect-metadata';
import { Controller, Get, Module, UseGuards, type DynamicModule } from '@nestjs/common';
import type { VariantParts } from './variant.js';

/** One page of a list: 1.5 kB of JSON. */
const OPENINGS = Array.from({ length: 20 }, (_, index) => ({
  id: 1_000 + index,
  title: `Opening number ${index}`,
  location: 'Bergen',
  open: index % 3 > 0,
}));

@Module({})
class SampleApp {}

/**
 * The application of every variant: the same route, with the variant's guard in front of it, and one without.
 */
export function sampleApp({ guard, rule, imports = [], providers = [] }: VariantParts): DynamicModule {
  @Controller()
  class OpenController {
    @Get('open')
    open(): typeof OPENINGS {
      return OPENINGS;
    }
  }
  @Controller()
  class OpeningsController {
    @Get('openings')
    list(): typeof OPENINGS {
      return OPENINGS;
    }
  }
  if (guard) UseGuards(guard)(OpeningsController);
  rule?.(OpeningsController);
  return { module: SampleApp, imports, providers, controllers: [OpenController, OpeningsController] };
}
