import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { IsInt, IsOptional, IsString, Validate, ValidatorConstraint } from 'class-validator';
import { CclInfo, UserRecord, type UserRecordClass } from '../../contract/record/user-record.js';
import { readerFor, readUserWith } from './record-reader.js';

class Staff extends UserRecord {
  @IsOptional() @IsInt() readonly badge?: number;
  @IsOptional() @IsString() readonly shift?: string;
}

class TokenAgain extends UserRecord {
  @IsString() override readonly auth_token: string = '';
}

class Dependent extends UserRecord {
  constructor(readonly settings: { readonly team: string }) {
    super();
    if (settings.team === '') throw new Error('canary');
  }
}

@ValidatorConstraint({ async: true })
class Later {
  validate(): Promise<boolean> {
    return Promise.resolve(true);
  }
}

class AsyncRecord extends UserRecord {
  @IsOptional() @Validate(Later) readonly badge?: string;
}

const SETTINGS = {
  userRecord: UserRecord as UserRecordClass,
  identityFields: ['username', 'email'] as readonly string[],
  cache: undefined as object | undefined,
};

/** A reader, and the reasons that it has logged. */
async function readerOf(settings: Partial<typeof SETTINGS>) {
  const log: unknown[] = [];
  const set = { ...SETTINGS, ...settings };
  const reader = readUserWith(set, await readerFor(set.userRecord));
  const read: typeof reader = (json) => reader(json, (...reason) => log.push(reason));
  return { read, log };
}

async function expectRefused(settings: Partial<typeof SETTINGS>, message: string): Promise<void> {
  await expect(readerOf(settings)).rejects.toThrow(new Error(`SessionAuthModule: ${message}.`));
}

describe('the record of a user', () => {
  it.each([[{ username: '', email: 'ann@a.example' }], [{ username: null, email: 'ann@a.example' }]])(
    'is the user if one identity field is set: %j',
    async (json) => {
      const { read, log } = await readerOf({});
      const user = read(json);
      expect(user).toBeInstanceOf(UserRecord);
      expect(user).toMatchObject(
        Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null)),
      );
      expect(log).toEqual([]);
    },
  );

  it.each([[{ username: '', email: '' }], [{ first_name: 'ann' }]])(
    'is no user if no identity field is set, which is logged: %j',
    async (json) => {
      const { read, log } = await readerOf({});
      expect(read(json)).toBeUndefined();
      expect(log).toEqual([['', 'one of username, email (identityFields) must be a non-empty string']]);
    },
  );

  it('is no user if the identity field holds another value than a text', async () => {
    const { read } = await readerOf({ userRecord: Staff, identityFields: ['badge'] });
    expect(read({ badge: 7, username: 'ann' })).toBeUndefined();
  });

  it('has fields of the own class of the application', async () => {
    const { read } = await readerOf({ userRecord: Staff, identityFields: ['shift'] });
    expect(read({ shift: 'night', badge: 7 })).toBeInstanceOf(Staff);
  });

  it('may be read by a schema that is a function', async () => {
    const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) };
    const userRecord = Object.assign(() => undefined, { '~standard': standard }) as never;
    const { read } = await readerOf({ userRecord });
    expect(read({ username: 'ann', shift: 'night' })).toMatchObject({ shift: 'night' });
  });

  it('shares equal values with other records if there is a cache', async () => {
    const json = { username: 'ann', ccl_info: { client_id: 1 } };
    for (const [cache, isShared] of [
      [{}, true],
      [undefined, false],
    ] as const) {
      const { read } = await readerOf({ cache });
      expect(read(json)?.ccl_info === read(json)?.ccl_info).toBe(isShared);
    }
  });
});

describe('a record class', () => {
  it.each([[{}], [CclInfo], [{ prototype: new UserRecord() }]])(
    'stops the application if it does not extend UserRecord: %p',
    async (userRecord) => {
      await expectRefused(
        { userRecord: userRecord as never },
        'userRecord must be a class that extends UserRecord, or a Standard Schema. Declare your fields in one of them, or leave it out',
      );
    },
  );

  it('stops the application if a validator is asynchronous', async () => {
    await expectRefused(
      { userRecord: AsyncRecord },
      'userRecord has an asynchronous validator. Use validators that answer at once',
    );
  });

  it('stops the application if its constructor throws', async () => {
    await expectRefused(
      { userRecord: Dependent as never },
      'userRecord has a constructor that throws. Declare fields only, without arguments',
    );
  });

  it('stops the application if it declares the token again', async () => {
    await expectRefused(
      { userRecord: TokenAgain },
      'userRecord declares auth_token again. Leave it to UserRecord',
    );
  });
});

describe('an identity field', () => {
  it.each([
    [['username', 'password'], 'password'],
    [['toString'], 'toString'],
  ])('stops the application if the record class has no such field: %j', async (identityFields, name) => {
    await expectRefused(
      { identityFields },
      `identityFields names '${name}', which is no field of the user record. Name declared fields`,
    );
  });
});

describe('the token of the record', () => {
  it('stops the application as an identity field, because a record without a user may repeat it', async () => {
    for (const identityFields of [['auth_token'], ['username', 'auth_token']]) {
      await expectRefused(
        { identityFields },
        "identityFields names 'auth_token', which identifies no user. Name another field",
      );
    }
  });
});
