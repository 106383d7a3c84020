import { describe, expect, it } from '@jest/globals';
import { classNameOf, prototypesOf } from './audited-handlers.js';

class Base {
  readonly kind: string = 'base';
}
class Derived extends Base {
  override readonly kind = 'derived';
}
const instance = new Derived();
const plain = Object.create(null) as object;

describe('the prototypes of a guard or an interceptor', () => {
  it.each<[string, unknown, unknown[]]>([
    [
      'a class are its own and those that it extends',
      Derived,
      [Derived.prototype, Base.prototype, Object.prototype],
    ],
    ['an instance come after it', instance, [instance, Derived.prototype, Base.prototype, Object.prototype]],
    ['an object without a class are none', plain, [plain]],
    ['a function without a prototype are none', () => undefined, []],
    ['nothing are none', undefined, []],
    ['null are none', null, []],
  ])('that is %s', (_which, enhancer, prototypes) => {
    const found = prototypesOf(enhancer);
    expect(found).toHaveLength(prototypes.length);
    found.forEach((prototype, index) => expect(prototype).toBe(prototypes[index]));
  });

  it('have the names of their classes, if there are any', () => {
    expect([instance, Derived.prototype, Base.prototype, plain].map(classNameOf)).toEqual([
      'Derived',
      'Derived',
      'Base',
      undefined,
    ]);
  });
});
