import fc from 'fast-check';

type Choices = readonly (readonly [weight: number, drawn: fc.Arbitrary<unknown>])[];

/** One of these, each as often as its weight says. */
export function weighted<const All extends Choices>(
  ...choices: All
): fc.Arbitrary<All[number][1] extends fc.Arbitrary<infer Value> ? Value : never> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary }))) as never;
}

/** The texts of a list, with ` | ` between them; `∅` is the empty one. */
export function texts([list = '']: TemplateStringsArray): string[] {
  return list.split(/ [|][ \n]/).map((text) => (text === '∅' ? '' : text));
}
