import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import * as transformer from 'class-transformer';
import * as validator from 'class-validator';
import * as library from 'nestjs-session-auth';
import type { UserRecordClass } from 'nestjs-session-auth';
import { InvalidConfigurationError } from 'nestjs-session-auth/errors';
import { compileFunction } from 'node:vm';
import ts from 'typescript';
import { bootstrapError, sampleApp } from '../support/sample-app.js';

const MODULES: Readonly<Record<string, object>> = {
  'class-transformer': transformer,
  'class-validator': validator,
  'nestjs-session-auth': library,
};

const IMPORTS = `
  import { Exclude, Expose, Type } from 'class-transformer';
  import { Allow, IsOptional, IsString } from 'class-validator';
  import { UserRecord } from 'nestjs-session-auth';
  class Badge { @IsOptional() @IsString() readonly name?: string; }`;

/** Compiles the class `Employee` as TypeScript does it with the setting. */
function compiled(members: string, useDefineForClassFields: boolean): UserRecordClass {
  const source = `${IMPORTS} export class Employee extends UserRecord { ${members} }`;
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2023,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      useDefineForClassFields,
    },
  });
  const exports: { Employee?: UserRecordClass } = {};
  const run = compileFunction(outputText, ['exports', 'require']) as (
    target: object,
    load: (name: string) => unknown,
  ) => void;
  run(exports, (name) => MODULES[name]);
  if (!exports.Employee) throw new Error('There is no class');
  return exports.Employee;
}

const BASE_URL = 'https://sessions.example.com';
const DECORATED = '@IsOptional() @IsString() readonly department?: string;';

async function startError(userRecord: UserRecordClass): Promise<Error> {
  return bootstrapError(sampleApp({ baseUrl: BASE_URL, options: { userRecord } }));
}

const expectNamed = (error: Error, names: string): void => {
  expect(error).toBeInstanceOf(InvalidConfigurationError);
  expect(error.message).toBe(
    `SessionAuthModule: userRecord has fields without a decorator of class-validator, which the service can't set: ${names}. ` +
      'Decorate them, for example with @IsOptional() @IsString(), or make them getters.',
  );
};

describe('a field of the record class without a decorator', () => {
  it.each([
    [
      'beside decorated ones',
      `${DECORATED} readonly team?: string; readonly floor?: number;`,
      "'team', 'floor'",
    ],
    ['with decorators of class-transformer only', '@Type(() => Badge) readonly badge?: Badge;', "'badge'"],
  ])('stops the application at its start: %s', async (_case, members, names) => {
    expectNamed(await startError(compiled(members, true)), names);
  });

  it('stops the application at its start without useDefineForClassFields too, if it has an initial value', async () => {
    for (const define of [true, false])
      expectNamed(
        await startError(compiled("readonly department: string = 'none';", define)),
        "'department'",
      );
  });

  it('is ignored without useDefineForClassFields and an initial value, as the guide says', async () => {
    const userRecord = compiled('readonly department?: string;', false);
    await expect(startError(userRecord)).rejects.toThrow('The application started');
  });

  it.each([
    ['every field is decorated', DECORATED],
    ['a field is left out on purpose', '@Allow() @Exclude() readonly department?: string;'],
    ['it is a getter', '@Expose() get initials() { return this.first_name?.[0]; }'],
    ['it is private', '#cache = 1; use() { return this.#cache; }'],
  ])('does not stop the application where there is none: %s', async (_case, members) => {
    for (const define of [true, false])
      await expect(startError(compiled(members, define))).rejects.toThrow('The application started');
  });
});
