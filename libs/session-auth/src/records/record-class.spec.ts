import 'reflect-metadata';
import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { plainToInstance, Transform, Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Min,
  ValidateNested,
  validateSync,
} from 'class-validator';
import * as fc from 'fast-check';
import { prepareReader } from './record-class.js';
import { prepareUserReader } from '../contract/record/user-reader.js';
import { UserRecord, type UserRecordClass } from '../contract/record/user-record.js';

/** Reads a record as the library does: {@link UserRecord} from a table, a class of an application by its decorators. */
function readerOf(record: UserRecordClass) {
  return (record === UserRecord ? prepareUserReader : prepareReader(record))(() => undefined).read;
}

class Address {
  @IsString() @Length(1, 3) street!: string;
  @IsOptional() @IsInt() @Min(0) floor?: number;
}

class DetailedRecord extends UserRecord {
  @IsOptional() @IsIn(['a', 'b']) override readonly display_label?: string | undefined = undefined;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(2)
  @IsString({ each: true })
  @Matches(/^x/, { each: true })
  tags?: string[];
  @IsOptional() @ValidateNested() @Type(() => Address) address?: Address;
  @IsOptional() @ValidateNested() @Type(() => Address) addresses?: Address[];
  @IsInt() required!: number;
  @Allow() anything?: unknown;
}

class TransformedRecord extends UserRecord {
  @IsString()
  @Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? value.toUpperCase() : value))
  shout!: string;
}

const scalar = fc.oneof(
  fc.string({ maxLength: 4 }),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(null, 'a', 'x1', '', 0, 1.5, Number.MAX_SAFE_INTEGER, 2 ** 53),
);

/** Mostly valid values of the field, so that both results occur. */
function mostly<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 12, arbitrary },
    { weight: 1, arbitrary: scalar },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
  );
}

const address = mostly(
  fc.record(
    { street: mostly(fc.constantFrom('a', 'abc')), floor: mostly(fc.nat()), unknown: scalar },
    { requiredKeys: ['street'] },
  ),
);
const id = mostly(fc.integer());
const cclInfo = mostly(
  fc.record({ client_id: id, company_id: id, location_id: id, other: scalar }, { requiredKeys: [] }),
);

const json = fc.record(
  {
    username: mostly(fc.string()),
    role: mostly(fc.string()),
    help_checkbox: mostly(fc.boolean()),
    ccl_info: fc.oneof(
      { weight: 12, arbitrary: cclInfo },
      { weight: 1, arbitrary: fc.array(cclInfo, { maxLength: 2 }) },
    ),
    display_label: mostly(fc.constantFrom('a', 'b', null)),
    tags: mostly(fc.array(mostly(fc.constantFrom('x', 'xy')), { maxLength: 2 })),
    address,
    addresses: mostly(fc.array(address, { maxLength: 2 })),
    required: mostly(fc.integer()),
    anything: fc.jsonValue({ maxDepth: 2 }),
    undeclared: fc.jsonValue({ maxDepth: 1 }),
  },
  { requiredKeys: ['required'] },
);

function classValidatorAccepts(record: new () => object, value: object): boolean {
  return validateSync(plainToInstance(record, value), { whitelist: true }).length === 0;
}

describe('the compiled check of a record', () => {
  it.each([
    ['UserRecord', UserRecord],
    ['a class with its own constraints, arrays and nested classes', DetailedRecord],
  ])('accepts the same arbitrary JSON as class-validator, for %s', (_name, record) => {
    const read = readerOf(record);
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(json, (arbitrary) => {
        const value = JSON.parse(JSON.stringify(arbitrary)) as object;
        const accepted = read(value) !== undefined;
        seen[accepted ? 'accepted' : 'refused'] += 1;
        expect(accepted).toBe(classValidatorAccepts(record, value));
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(200);
  });

  it('makes the token readable but not enumerable', () => {
    const user = readerOf(UserRecord)({ username: 'ann', auth_token: 'secret' });
    expect(user?.auth_token).toBe('secret');
    expect(JSON.stringify(user) + Object.keys(user ?? {}).join()).not.toMatch(/secret|auth_token/);
    expect(inspect(user, { showHidden: true, depth: Infinity })).not.toContain('secret');
  });

  it('applies class-transformer decorators of the class', () => {
    const read = readerOf(TransformedRecord) as (json: object) => TransformedRecord | undefined;
    expect(read({ username: 'ann', shout: 'hi', undeclared: 1 })).toMatchObject({ shout: 'HI' });
    expect(read({ username: 'ann', shout: 1 })).toBeUndefined();
  });
});
