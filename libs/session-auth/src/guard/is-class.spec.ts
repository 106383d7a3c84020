import { runInThisContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { isClass } from './is-class.js';

const functionOf = (text: string): object => runInThisContext(`(${text})`) as object;

describe('a class', () => {
  it.each([...['class {}', 'class{}', 'class\nA {}', 'class/* */A{}', 'class extends Object {}']])(
    'is one: %j',
    (text) => expect(isClass(functionOf(text))).toBe(true),
  );

  it.each([
    ...['function classOf() {}', '() => class {}', 'async () => {}', '({ classOf() {} }).classOf'],
    ...['({ class() {} }).class', '({ class  () {} }).class', '({ class$() {} }).class$', 'Date'],
  ])('is not %j', (text) => expect(isClass(functionOf(text))).toBe(false));
});
