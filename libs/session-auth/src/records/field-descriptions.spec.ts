import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Type } from 'class-transformer';
import {
  IsString,
  Validate,
  ValidateNested,
  ValidatorConstraint,
  type ValidationArguments,
} from 'class-validator';
import { fieldsOf } from './field-descriptions.js';
import { findInvalidField } from './invalid-field.js';

@ValidatorConstraint({ name: 'silent' })
class Silent {
  validate(): boolean {
    return false;
  }
}

@ValidatorConstraint({ name: 'talkative' })
class Talkative {
  validate(): boolean {
    return false;
  }
  defaultMessage({ property, constraints, targetName, value }: ValidationArguments): string {
    return [property, JSON.stringify(constraints), targetName, String(value)].join('|');
  }
}

class Constrained {
  @Validate(Silent) silent?: unknown;
  @Validate(Talkative) talkative?: unknown;
  @Validate(Talkative, [1, 'two']) constrained?: unknown;
}

class Item {
  @IsString() name?: string;
}

class Nesting {
  @ValidateNested() untyped?: Item;
  @ValidateNested() @Type(() => 'Item' as unknown as typeof Item) named?: Item;
  @ValidateNested() @Type(() => Item) typed?: Item;
}

describe('the description of a record class', () => {
  it('has a message of each check that contains no value', () => {
    const expectations = fieldsOf(Constrained).map(({ name, checks }) => [
      name,
      checks.map(({ expectation }) => expectation),
    ]);
    expect(Object.fromEntries(expectations)).toEqual({
      silent: ['$property must satisfy silent'],
      talkative: ['$property|[]||undefined'],
      constrained: ['$property|[1,"two"]||undefined'],
    });
  });

  it('has the class of a nested field only if @Type() names a class', () => {
    const nested = fieldsOf(Nesting).map(({ name, nested }) => [name, nested]);
    expect(Object.fromEntries(nested)).toEqual({ untyped: undefined, named: undefined, typed: Item });
  });

  it('is read once', () => {
    expect(fieldsOf(Item)).toBe(fieldsOf(Item));
  });
});

describe('the path of an invalid field', () => {
  const pathOf = (length: number): string | undefined => {
    class Inner {
      readonly kind = 'inner';
    }
    const name = 'x'.repeat(length);
    IsString()(Inner.prototype, name);
    class Outer {
      inner = new Inner();
    }
    ValidateNested()(Outer.prototype, 'inner');
    Type(() => Inner)(Outer.prototype, 'inner');
    return findInvalidField(new Outer(), fieldsOf(Outer))?.path;
  };

  it('begins at the record unless it is longer than 200 characters', () => {
    expect([200, 201].map(pathOf)).toEqual([`inner.${'x'.repeat(200)}`, 'x'.repeat(201)]);
  });
});
