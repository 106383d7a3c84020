import { runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { isClass } from './is-class.js';

const functionOf = (text: string): object => runInThisContext(`(${text})`) as object;

describe('a class', () => {
  it.each([
    'class {}',
    'class{}',
    'class A {}',
    'class\nA {}',
    'class/* */A{}',
    'class extends Object {}',
    '(class { classOf() {} })',
  ])('is one: %j', (text) => expect(isClass(functionOf(text))).toBe(true));

  it.each([
    'function () {}',
    'function classOf() {}',
    '() => class {}',
    'Object.freeze(function () {})',
    'async () => {}',
    '({ classOf() {} }).classOf',
    '({ class() {} }).class',
    '({ class () {} }).class',
    '({ class  () {} }).class',
    '({ class$() {} }).class$',
    'Date',
  ])('is not %j', (text) => expect(isClass(functionOf(text))).toBe(false));
});
