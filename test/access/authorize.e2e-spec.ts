import { describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { Authorize, type AuthorizationRule } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';

const failure = new Error('the rule broke');

const RULES: [what: string, rule: () => unknown, status: number][] = [
  ['resolves to true', () => Promise.resolve(true), 200],
  ['resolves to false', () => Promise.resolve(false), 403],
  ['returns 1', () => 1, 403],
  ['throws', () => fail(), 503],
];

function fail(): never {
  throw failure;
}

const pathOf = (what: string): string => what.replaceAll(' ', '-');

/** A controller whose one handler has this rule. */
function guardedBy(rule: () => unknown, path: string) {
  @Controller(path)
  class RuledController {
    @Get() @Authorize(rule as AuthorizationRule) ruled(): string {
      return 'in';
    }
  }
  return RuledController;
}

describe.each(PLATFORMS)('@Authorize on %s', (_name, platform) => {
  const controllers = RULES.map(([what, rule]) => guardedBy(rule, pathOf(what)));
  const shared = sharedSample({ controllers }, platform);

  it.each(RULES)('answers a rule that %s with the right status', async (what, _rule, status) => {
    const token = shared.service.signInAs({});
    const ask = async (): Promise<number> => {
      const reply = await shared.app.get(`/${pathOf(what)}`, token);
      expect(await reply.text()).not.toContain(failure.message);
      return reply.status;
    };

    expect(await always(ask)).toBe(status);
  });
});
