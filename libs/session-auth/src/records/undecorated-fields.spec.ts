import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, Type } from 'class-transformer';
import { IsOptional, IsString, ValidateNested } from 'class-validator';
import { undecoratedFields } from './undecorated-fields.js';

class Address {
  @IsString() street = '';
  city = '';
}

class Person {
  @IsString() name = '';
  nickname = '';
  @Exclude() computed = '';
  @Expose() exposed?: string;
  @Expose() get initial(): string {
    return this.name.charAt(0);
  }
  @ValidateNested() @Type(() => Address) address?: Address;
}

/** As TypeScript compiles a class whose field has no initial value, without `useDefineForClassFields`. */
class Compiled {
  @IsString() name = '';
}
Expose()(Compiled.prototype, 'late');

class Complete {
  @IsString() name = '';
  @IsOptional() @ValidateNested() @Type(() => Complete) parent?: Complete;
}

class Staff {
  @IsString() name = '';
  nickname = '';
  @IsOptional() @ValidateNested() @Type(() => Staff) manager?: Staff;
}

class Town {
  @IsString() name = '';
  @IsOptional() @ValidateNested() @Type(() => Street) main?: object;
}

class Street {
  @IsString() name = '';
  width = 0;
  @IsOptional() @ValidateNested() @Type(() => Town) town?: Town;
}

describe('the fields of a record class that the service cannot set', () => {
  it('are those without a decorator of class-validator, of the class and of its nested classes', () => {
    expect(undecoratedFields(Person).sort()).toEqual(['address.city', 'exposed', 'nickname']);
  });

  it('include one with @Expose() that no instance has', () => {
    expect(undecoratedFields(Compiled)).toEqual(['late']);
  });

  it('are none if every field has one', () => {
    expect(undecoratedFields(Complete)).toEqual([]);
  });

  it('are found once in a class that contains itself', () => {
    expect(undecoratedFields(Staff)).toEqual(['nickname']);
  });

  it('are found once in classes that contain each other', () => {
    expect(undecoratedFields(Town)).toEqual(['main.width']);
  });
});
