import { describe, expect, it } from '@jest/globals';
import { UseFilters, UseGuards } from '@nestjs/common';
import { addFirst, enhancersOf } from './enhancers.js';

const guard = { canActivate: () => true };
const filter = { catch: () => undefined };

@UseGuards(guard)
@UseFilters(filter)
class Names {
  readonly kind = 'names';
}
class MoreNames extends Names {}

describe('the enhancers of a class', () => {
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
