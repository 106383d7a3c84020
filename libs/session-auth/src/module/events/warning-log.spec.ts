import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { WarningLog } from './warning-log.js';

const MINUTE_MS = 60_000;
const SUBJECTS = 500;

describe('the log of warnings', () => {
  let lines: string[];
  let log: WarningLog;
  const invalid = (path: string): void => log.invalidField({ path, expectation: '$property must be a string' });

  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((line: unknown) => void lines.push(String(line)));
    log = new WarningLog();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('has each field once a minute', () => {
    for (const path of ['email', 'email', 'phone']) invalid(path);
    expect(lines).toEqual([
      expect.stringMatching(/^invalid user record: email must be a string\./),
      expect.stringMatching(/^invalid user record: phone must be a string\./),
    ]);

    jest.advanceTimersByTime(MINUTE_MS - 1);
    invalid('email');
    expect(lines).toHaveLength(2);
    jest.advanceTimersByTime(1);
    invalid('email');
    expect(lines).toHaveLength(3);
  });

  it('has a limited number of fields within a minute, and others in the next', () => {
    for (let index = 0; index < 2 * SUBJECTS; index += 1) invalid(`field${index}`);
    expect(lines).toHaveLength(SUBJECTS);

    jest.advanceTimersByTime(MINUTE_MS);
    log.storeUnavailable();
    invalid('another');
    expect(lines.slice(SUBJECTS)).toEqual([expect.stringMatching(/^session store unavailable:/), expect.stringMatching(/ another must /)]);
  });
});
