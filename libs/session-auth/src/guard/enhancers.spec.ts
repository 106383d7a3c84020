import { describe, expect, it } from '@jest/globals';
import { UseFilters, UseGuards, UseInterceptors } from '@nestjs/common';
import { of } from 'rxjs';
import { addFirst, enhancersOf } from './enhancers.js';

const guard = { canActivate: () => true };
const interceptor = { intercept: () => of(undefined) };
const filter = { catch: () => undefined };

@UseGuards(guard)
@UseInterceptors(interceptor)
@UseFilters(filter)
class Names {
  readonly kind = 'names';
}
class MoreNames extends Names {}
class Other {
  readonly kind = 'other';
}

describe('the enhancers of a class', () => {
  it('are those of its decorators, and of the class that it extends', () => {
    for (const target of [Names, MoreNames]) {
      expect(enhancersOf(target, 'guard')).toEqual([guard]);
      expect(enhancersOf(target, 'interceptor')).toEqual([interceptor]);
      expect(enhancersOf(target, 'filter')).toEqual([filter]);
    }
    expect(enhancersOf(Other, 'guard')).toEqual([]);
  });

  it('begin with the one that is added, which is added once and to this class only', () => {
    const first = { canActivate: () => true };
    addFirst(MoreNames, 'guard', first);
    addFirst(MoreNames, 'guard', first);
    addFirst(MoreNames, 'guard', guard);

    expect(enhancersOf(MoreNames, 'guard')).toEqual([first, guard]);
    expect(enhancersOf(Names, 'guard')).toEqual([guard]);
    expect(enhancersOf(MoreNames, 'filter')).toEqual([filter]);
  });
});
