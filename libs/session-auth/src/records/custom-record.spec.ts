import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Exclude, Expose, plainToInstance, Transform, Type } from 'class-transformer';
import {
  Allow,
  IsDate,
  IsOptional,
  IsString,
  Validate,
  ValidateBy,
  ValidateNested,
  ValidatorConstraint,
  validateSync,
  type ValidationArguments,
  type ValidationOptions,
} from 'class-validator';
import { hasAsyncValidators } from './field-descriptions.js';
import { prepareReader } from './record-class.js';
import { UserRecord, type UserRecordClass } from '../contract/record/user-record.js';

function readerOf<User extends UserRecord>(record: UserRecordClass<User>) {
  return prepareReader(record)(() => undefined).read as (json: object) => User | undefined;
}

/** Decorates a field with a validator function of the application. */
const By = (
  validate: (value: unknown, args?: ValidationArguments) => boolean | Promise<boolean>,
  options?: ValidationOptions,
) => ValidateBy({ name: 'own', constraints: ['constraint'], validator: { validate } }, options);

const isSeven = (value: unknown): boolean => value === 7;

@ValidatorConstraint({ async: true })
class LateConstraint {
  validate(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

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
}

class TransformedRecord extends UserRecord {
  @IsOptional()
  @IsString()
  @Transform(({ value }: { value: unknown }) => String(value).toUpperCase())
  loud?: string;
  @IsOptional() @ValidateNested() @Type(() => Place) places?: Place[];
  @IsOptional() @Allow() anything?: unknown;
}

const accepts = (record: new () => UserRecord, json: object): boolean => readerOf(record)(json) !== undefined;

describe('a record class of the application', () => {
  it.each<[new () => UserRecord, object, boolean]>([
    [PlacesRecord, {}, true],
    [PlacesRecord, { place: { name: 'x' } }, true],
    [PlacesRecord, { place: null }, false],
    [PlacesRecord, { place: 'x' }, false],
    [PlacesRecord, { place: [{ name: 'x' }, { name: 1 }] }, false],
    [PlacesRecord, { undescribed: {} }, false],
    [PlacesRecord, { undescribed: { name: 'x' } }, false],
    [ChosenRecord, { grouped: 7, conditional: 7, each: 7 }, true],
    [ChosenRecord, { grouped: 8, conditional: 7, each: 7 }, false],
    [ChosenRecord, { grouped: 7, conditional: 'any', each: [7, 7] }, true],
    [ChosenRecord, { grouped: 7, conditional: 8, each: 7 }, false],
    [ChosenRecord, { grouped: 7, conditional: [7], each: 7 }, false],
    [ChosenRecord, { grouped: 7, conditional: 7, each: [7, 8] }, false],
  ])('%p reads %j as class-validator does: %p', (record, json, accepted) => {
    const built = plainToInstance(record, json);
    expect(validateSync(built).length === 0).toBe(accepted);
    expect(accepts(record, json)).toBe(accepted);
  });

  it('has frozen nested records without null, in arrays too', () => {
    const user = readerOf(PlacesRecord)({ places: [{ name: 'x', floor: null, more: 1 }] });
    expect(user?.places).toStrictEqual([Object.assign(new Place(), { name: 'x', floor: undefined })]);
    expect(Object.isFrozen(user?.places?.[0])).toBe(true);
  });

  it('reads an auth_token of null as no token', () => {
    const user = readerOf(UserRecord)({ username: 'ann', auth_token: null });
    expect(user).toBeDefined();
    expect(user?.auth_token).toBeUndefined();
  });
});

describe('a record class that class-transformer builds', () => {
  it('keeps declared fields only, at every depth', () => {
    const anything = { kept: { as: 'it is' } };
    const json = { loud: 'a', places: [{ name: 'x', more: 1 }], anything, more: 1 };
    expect(JSON.parse(JSON.stringify(readerOf(TransformedRecord)(json)))).toEqual({
      loud: 'A',
      places: [{ name: 'x' }],
      anything,
    });
    expect(readerOf(TransformedRecord)({ places: null })?.places).toBeUndefined();
  });

  it.each([
    ['@Type', 'since', '2026-01-01', new Date('2026-01-01')],
    ['@Expose', 'exposed', undefined, 'of the wire'],
    ['@Exclude', 'excluded', 'of the wire', undefined],
  ])('applies %s', (decorator, field, value, expected) => {
    class DecoratedRecord extends UserRecord {}
    const on = DecoratedRecord.prototype;
    IsOptional()(on, field);
    if (decorator === '@Type') [IsDate(), Type(() => Date)].forEach((decorate) => decorate(on, field));
    else
      [IsString(), decorator === '@Expose' ? Expose({ name: 'wire_name' }) : Exclude()].forEach((decorate) =>
        decorate(on, field),
      );
    const user = readerOf(DecoratedRecord)({
      [field]: value,
      wire_name: 'of the wire',
    }) as unknown as Record<string, unknown>;
    expect(user[field]).toEqual(expected);
  });
});

describe('a validator of the application', () => {
  it.each([undefined, ['group']])('is recognized as asynchronous in the groups %j', (groups?: string[]) => {
    class AsyncRecord extends UserRecord {
      @Validate(LateConstraint, groups && { groups }) late?: string;
    }
    expect([hasAsyncValidators(AsyncRecord), hasAsyncValidators(UserRecord)]).toEqual([true, false]);
  });

  it('receives the arguments that class-validator passes', () => {
    const seen: unknown[] = [];
    class WatchedRecord extends UserRecord {
      @By((_value, args) => seen.push(args) > 0)
      watched?: string;
    }
    const user = readerOf(WatchedRecord)({ watched: 'secret' });
    expect(seen).toEqual([
      {
        value: 'secret',
        property: 'watched',
        object: user,
        constraints: ['constraint'],
        targetName: 'WatchedRecord',
      },
    ]);
    expect((seen[0] as ValidationArguments).object).toBe(user);
  });

  it.each([
    ['is fulfilled with true', () => Promise.resolve(true)],
    ['is rejected', () => Promise.reject(new Error('late'))],
  ])('that returns a promise rejects the record, even if the promise %s', (_name, validate) => {
    class LateRecord extends UserRecord {
      @By(validate) late?: string;
    }
    expect(accepts(LateRecord, { late: 'x' })).toBe(false);
  });
});
