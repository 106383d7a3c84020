import { expect } from '@jest/globals';

/**
 * If half of the denials failed, ten would all hold in one of a thousand runs, and a single one in every
 * other.
 */
const TIMES = 10;

/** Asks ten times, one after the other. Returns the answer, which must be the same every time. */
export async function always<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = await ask();
  for (let time = 1; time < TIMES; time += 1) expect(await ask()).toEqual(answer);
  return answer;
}
