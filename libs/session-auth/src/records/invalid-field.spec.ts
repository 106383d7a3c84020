import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Transform, Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, ValidateBy, ValidateNested } from 'class-validator';
import { prepareReader } from './record-class.js';
import { UserRecord } from '../contract/record/user-record.js';

class Place {
  @IsString() readonly name!: string;
}

class Undecorated {
  declare readonly name?: string;
}

/** A validator with a message that needs the value. */
const Quoting = (): PropertyDecorator =>
  ValidateBy({
    name: 'quoting',
    validator: {
      validate: () => false,
      defaultMessage: (args) => `$property is ${(args?.value as string).trim()}`,
    },
  });

const Silent = (): PropertyDecorator => ValidateBy({ name: 'silent', validator: { validate: () => false } });

class OwnRecord extends UserRecord {
  @IsOptional() @IsIn(['day', 'night']) readonly shift?: string;
  @IsOptional() @IsString({ each: true }) readonly skills?: readonly string[];
  @IsOptional() @IsString({ message: 'You sent $value' }) readonly motto?: string;
  @IsOptional() @Quoting() readonly quoted?: string;
  @IsOptional() @Silent() readonly silent?: string;
  @IsOptional() @ValidateNested() @Type(() => Place) readonly place?: Place;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Place) readonly places?: readonly Place[];
  @IsOptional() @ValidateNested() @Type(() => Undecorated) readonly undecorated?: Undecorated;
}

class Folder {
  @IsOptional() @IsInt() @Transform(({ value }: { value: unknown }) => value) readonly size?: number;
  @IsOptional() @ValidateNested() @Type(() => Folder) readonly inner?: Folder;
}

class FolderRecord extends UserRecord {
  @IsOptional()
  @ValidateNested()
  @Type(() => Folder)
  @Transform(({ value }: { value: unknown }) => value)
  readonly folder?: Folder;
}

function complaintsAbout(record: new () => UserRecord, json: object): string[] {
  const complaints: string[] = [];
  const { read } = prepareReader(record)((_field, requirement) => complaints.push(requirement));
  expect(read(json) === undefined).toBe(complaints.length > 0);
  return complaints;
}

describe('the description of an invalid field', () => {
  it.each([
    [{ username: 7 }, 'username must be a string'],
    [{ ats_enabled: 'yes' }, 'ats_enabled must be a boolean value'],
    [{ auth_token: 7 }, 'auth_token must be a string'],
    [{ ccl_info: 'secret' }, 'ccl_info must be an object'],
    [{ ccl_info: { client_id: 'secret' } }, 'ccl_info.client_id must be a safe integer'],
    [{ shift: 'secret' }, 'shift must be one of the following values: day,night'],
    [{ skills: ['go', 7] }, 'each value in skills must be a string'],
    [{ place: 7 }, 'place must be an object, or a list of objects, of a class with decorated fields'],
    [{ place: { name: 7 } }, 'place.name must be a string'],
    [{ places: [{ name: 'x' }, { name: 7 }] }, 'places.name must be a string'],
    [
      { undecorated: { name: 'x' } },
      'undecorated must be an object, or a list of objects, of a class with decorated fields',
    ],
  ])('names the path and the expected type: %j', (json, complaint) => {
    expect(complaintsAbout(OwnRecord, json)).toEqual([complaint]);
  });

  it('never contains the value', () => {
    expect(complaintsAbout(OwnRecord, { motto: 7 })).toEqual(['motto must be a string']);
    expect(complaintsAbout(OwnRecord, { quoted: 'secret' })).toEqual(['quoted must satisfy quoting']);
    expect(complaintsAbout(OwnRecord, { silent: 'secret' })).toEqual(['silent must satisfy silent']);
  });

  it('has a path of limited length, also in a class that contains itself', () => {
    let folder: object = { size: 'secret' };
    for (let depth = 0; depth < 500; depth += 1) folder = { inner: folder };
    const [complaint = ''] = complaintsAbout(FolderRecord, { folder });

    expect(complaint).toMatch(/^(?:inner\.)+size must be an integer number$/);
    expect(complaint.length).toBeLessThan(250);
  });

  it('names only the first of several fields, and nothing for a valid record', () => {
    expect(complaintsAbout(OwnRecord, { username: 7, email: 7 })).toHaveLength(1);
    expect(complaintsAbout(OwnRecord, { username: 'ann' })).toEqual([]);
  });
});
