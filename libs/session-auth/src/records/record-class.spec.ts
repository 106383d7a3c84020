import 'reflect-metadata';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, plainToInstance, Transform, Type } from 'class-transformer';
import {
  Allow,
  IsDate,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Validate,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  ValidatorConstraint,
  validateSync,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import { UserRecord, type UserRecordClass } from '../contract/record/user-record.js';
import { prepareReader } from './record-class.js';

function read<User extends UserRecord>(record: UserRecordClass<User>, json: object) {
  const complaints: string[] = [];
  const { read } = prepareReader(record)();
  const report = (_field: string, requirement: string): unknown => complaints.push(requirement);
  const user = read(json, report) as User | undefined;
  expect(complaints).toHaveLength(user ? 0 : 1);
  return { user, complaints };
}

/** Decorates a field with a validator function of the application. */
const By = (
  validate: (value: unknown, args?: ValidationArguments) => boolean | Promise<boolean>,
  options?: ValidationOptions,
) => ValidateBy({ name: 'own', constraints: ['constraint'], validator: { validate } }, options);

const isSeven = (value: unknown): boolean => value === 7;

class Place {
  @IsString() name!: string;
  @IsOptional() @IsString() floor?: string;
}

class Undescribed {
  declare name?: string;
}

class PlacesRecord extends UserRecord {
  @ValidateNested() @Type(() => Place) place?: Place;
  @IsOptional() @ValidateNested() @Type(() => Undescribed) undescribed?: Undescribed;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Place) places?: Place[];
}

class ChosenRecord extends UserRecord {
  @By(isSeven, { groups: ['group'] }) grouped?: unknown;
  @By(isSeven, { validateIf: (_owner: unknown, value: unknown) => value !== 'any' }) conditional?: unknown;
  @By(isSeven, { each: true }) each?: unknown;
  @ValidateIf((_owner, value) => value !== null) @IsString() nullable?: string | null;
}

class Animal {
  @IsString() sound!: string;
}

class Dog extends Animal {
  @IsInt() bones!: number;
}

class TransformedRecord extends UserRecord {
  @IsOptional()
  @IsString()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value))
  loud?: string;
  @IsOptional() @ValidateNested() @Type(() => Place) places?: Place[];
  @Allow() anything?: unknown;
  @IsOptional() @IsDate() @Type(() => Date) since?: Date;
  @IsOptional() @IsString() @Expose({ name: 'wire_name' }) exposed?: string;
  @IsOptional() @IsString() @Exclude() excluded?: string;
  @IsOptional()
  @ValidateNested()
  @Type(() => Animal, { discriminator: { property: 'kind', subTypes: [{ name: 'dog', value: Dog }] } })
  pet?: Animal;
}

describe('a record class of the application', () => {
  it.each<[UserRecordClass, object, boolean]>([
    [PlacesRecord, {}, true],
    [PlacesRecord, { place: null }, false],
    [PlacesRecord, { place: 'x' }, false],
    [PlacesRecord, { place: [{ name: 'x' }, { name: 1 }] }, false],
    [PlacesRecord, { undescribed: { name: 'x' } }, false],
    [ChosenRecord, { grouped: 7, conditional: 7, each: 7, nullable: null }, true],
    [ChosenRecord, { grouped: 8, conditional: 7, each: 7, nullable: null }, false],
    [ChosenRecord, { grouped: 7, conditional: 'any', each: [7, 7], nullable: 'x' }, true],
    [ChosenRecord, { grouped: 7, conditional: 8, each: 7, nullable: null }, false],
    [ChosenRecord, { grouped: 7, conditional: 7, each: [7, 8], nullable: null }, false],
    [ChosenRecord, { grouped: 7, conditional: 7, each: 7 }, false],
  ])('%p reads %j as class-validator does: %p', (record, json, accepted) => {
    expect(validateSync(plainToInstance(record, json), { whitelist: true }).length === 0).toBe(accepted);
    expect(read(record, json).user !== undefined).toBe(accepted);
  });

  it('keeps declared fields only, and applies class-transformer, at every depth', () => {
    const { user } = read(TransformedRecord, {
      loud: 'a',
      places: [{ name: 'x', more: 1 }],
      anything: { kept: { as: 'it is' } },
      since: '2026-01-01',
      wire_name: 'of the wire',
      excluded: 'x',
      pet: { kind: 'dog', sound: 'wow', bones: 2, more: 1 },
      more: 1,
    });
    expect(JSON.parse(JSON.stringify(user))).toEqual({
      loud: 'A',
      places: [{ name: 'x' }],
      anything: { kept: { as: 'it is' } },
      since: new Date('2026-01-01').toJSON(),
      exposed: 'of the wire',
      pet: { sound: 'wow', bones: 2 },
    });
    expect(user?.pet).toBeInstanceOf(Dog);
  });

  it('has its getters, also those with @Expose()', () => {
    class WithGetter extends UserRecord {
      @Expose() get initial() {
        return this.first_name?.[0];
      }
    }
    const json = { first_name: 'Ann', initial: 'x' };
    expect(read(WithGetter, json).user?.initial).toBe('A');
  });

  it('has frozen nested records without null, in lists too', () => {
    const { user } = read(PlacesRecord, { places: [{ name: 'x', floor: null, more: 1 }] });
    expect(user?.places).toStrictEqual([Object.assign(new Place(), { name: 'x', floor: undefined })]);
    expect([user, user?.places, user?.places?.[0]].map((part) => Object.isFrozen(part))).toEqual(
      Array(3).fill(true),
    );
  });

  it('reads nothing from a key __proto__, at any depth', () => {
    const json = JSON.parse(
      '{"__proto__":{"role":"admin"},"constructor":{"name":"x"},"anything":{"__proto__":{"role":"admin"}},"places":[{"name":"x","__proto__":{"floor":"9"}}]}',
    ) as object;
    const { user } = read(TransformedRecord, json);
    expect([user?.role, (user?.anything as UserRecord).role, user?.places?.[0]?.floor]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(user).toBeInstanceOf(TransformedRecord);
    expect(({} as UserRecord).role).toBeUndefined();
  });

  it('has a token that is readable but not enumerable', () => {
    const { user } = read(PlacesRecord, { username: 'ann', auth_token: 'secret' });
    expect(user?.auth_token).toBe('secret');
    expect(JSON.stringify(user) + Object.keys(user ?? {}).join()).not.toMatch(/secret|auth_token/);
    expect(inspect(user, { showHidden: true, depth: Infinity })).not.toContain('secret');
    expect(read(PlacesRecord, { auth_token: null }).user?.auth_token).toBeUndefined();
  });

  it('is refused with a reason if its objects are deeper than can be read', () => {
    class Folder extends UserRecord {
      @IsOptional() @ValidateNested() @Type(() => Folder) inner?: Folder;
    }
    let folder: object = {};
    for (let depth = 0; depth < 30_000; depth += 1) folder = { inner: folder };
    expect(read(Folder, folder).complaints).toEqual([expect.stringContaining('throw an error')]);
  });
});

describe('a validator of the application', () => {
  it('receives the arguments that class-validator passes', () => {
    const seen: unknown[] = [];
    class WatchedRecord extends UserRecord {
      @By((_value, args) => seen.push(args) > 0)
      watched?: string;
    }
    const { user } = read(WatchedRecord, { watched: 'x' });
    expect(seen).toEqual([
      {
        value: 'x',
        property: 'watched',
        object: user,
        constraints: ['constraint'],
        targetName: 'WatchedRecord',
      },
    ]);
    expect((seen[0] as ValidationArguments).object).toBe(user);
  });
});

@ValidatorConstraint({ async: true })
class LateConstraint {
  validate(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

class LatePlace {
  @Validate(LateConstraint) name?: string;
}

const late = (settled: () => Promise<unknown>): UserRecordClass[] => {
  class ByValidator extends UserRecord {
    @By(settled as () => Promise<boolean>) late?: string;
  }
  class ByItems extends UserRecord {
    @By(settled as () => Promise<boolean>, { each: true }) late?: string;
  }
  class ByCondition extends UserRecord {
    @ValidateIf(settled as never) @IsString() late?: string;
  }
  class ByConditionOfRule extends UserRecord {
    @IsString({ validateIf: settled as never }) late?: string;
  }
  class ByTransformation extends UserRecord {
    @Allow() @Transform(settled) late?: string;
  }
  class ByTransformationWithin extends UserRecord {
    @Allow() @Transform(() => ({ deep: [settled()] })) late?: string;
  }
  return [ByValidator, ByItems, ByCondition, ByConditionOfRule, ByTransformation, ByTransformationWithin];
};

describe('a record whose class answers later', () => {
  it.each([
    ['is fulfilled', () => Promise.resolve(true)],
    ['is rejected, which ends no process', () => Promise.reject(new Error('late'))],
  ])('is no user, also if the promise %s', async (_how, settled) => {
    const strays: unknown[] = [];
    const note = (reason: unknown) => strays.push(reason);
    process.on('unhandledRejection', note);
    for (const record of late(settled)) {
      expect(read(record, { late: 'x' }).user).toBeUndefined();
      class Outer extends UserRecord {
        @IsOptional() @ValidateNested() @Type(() => record) inner?: object;
      }
      expect(read(Outer, { inner: { late: 'x' } }).user).toBeUndefined();
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(strays).toEqual([]);
  });

  it('is no user if the validator of a nested class is declared asynchronous', () => {
    class Placed extends UserRecord {
      @ValidateNested() @Type(() => LatePlace) place?: LatePlace;
    }
    expect(read(Placed, { place: { name: 'x' } }).complaints).toEqual([
      'the record must not make a validator or a transformation of Placed throw an error, or answer later',
    ]);
  });
});

class Complaining extends UserRecord {
  @IsOptional() @IsIn(['day', 'night'], { message: 'You sent $value' }) shift?: string;
  @IsOptional() @IsString({ each: true }) skills?: string[];
  @IsOptional()
  @ValidateBy({
    name: 'quoting',
    validator: { validate: () => false, defaultMessage: (args) => `${args?.value}` },
  })
  quoted?: string;
  @IsOptional() @ValidateNested() @Type(() => Place) place?: Place;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Place) places?: Place[];
  @IsOptional() @ValidateNested() @Type(() => Undescribed) undescribed?: Undescribed;
  @IsOptional() @ValidateNested({ each: true }) byName?: Map<string, Place>;
}
Transform(({ value }) => new Map(Object.entries(value as object)))(Complaining.prototype, 'byName');

describe('the description of an invalid field', () => {
  it.each([
    [{ ccl_info: { client_id: 'secret' } }, 'ccl_info.client_id must satisfy isSafeInteger'],
    [{ shift: 'secret' }, 'shift must satisfy isIn'],
    [{ skills: ['go', 'secret', 7] }, 'skills must satisfy isString'],
    [{ quoted: 'secret' }, 'quoted must satisfy quoting'],
    [{ place: 7 }, 'place must satisfy nestedValidation'],
    [{ place: { name: 7 } }, 'place.name must satisfy isString'],
    [{ places: [{ name: 'x' }, { name: 7 }] }, 'places.1.name must satisfy isString'],
    [{ undescribed: { name: 'secret' } }, 'undescribed must satisfy unknownValue'],
    [{ byName: { 'a\nsecret': 7 } }, 'byName.* must satisfy nestedValidation'],
    [{ username: 7, email: 7 }, 'username must satisfy isString'],
  ])('names the path and the rule, and no value: %j', (json, complaint) => {
    expect(read(Complaining, json).complaints).toEqual([complaint]);
  });
});
