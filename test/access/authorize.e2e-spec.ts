import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Param, UseGuards } from '@nestjs/common';
import { Authorize, Roles, SessionAuthGuard, type AuthorizationRule } from 'nestjs-session-auth';
import { always } from '../support/always.js';
import { PLATFORMS } from '../support/platforms.js';
import { sharedSample } from '../support/shared-sample.js';

const asked: string[] = [];

const noting =
  (name: string, answer: boolean): AuthorizationRule =>
  () => {
    asked.push(name);
    return answer;
  };

@Controller()
@UseGuards(SessionAuthGuard)
class ClientsController {
  @Get('clients/:id')
  @Authorize(
    (user, context) =>
      String(user.ccl_info?.client_id) ===
      context.switchToHttp().getRequest<{ params: { id: string } }>().params.id,
  )
  client(@Param('id') id: string): string {
    return id;
  }

  @Get('both')
  @Authorize(noting('second', true))
  @Authorize(noting('first', false))
  both(): string {
    return 'in';
  }

  @Get('role-first')
  @Roles('boss')
  @Authorize(noting('rule', true))
  roleFirst(): string {
    return 'in';
  }
}

/** A controller whose one handler has this rule. */
function guardedBy(rule: unknown, path: string) {
  @Controller(path)
  @UseGuards(SessionAuthGuard)
  class RuledController {
    @Get('ruled')
    @Authorize(rule as AuthorizationRule)
    ruled(): string {
      return 'in';
    }
  }
  return RuledController;
}

const failure = new Error('the rule broke');

const RULES: [what: string, rule: unknown, status: number][] = [
  ['returns true', () => true, 200],
  ['resolves to true', () => Promise.resolve(true), 200],
  ['returns false', () => false, 403],
  ['resolves to false', () => Promise.resolve(false), 403],
  ['returns 1', () => 1, 403],
  ['returns a Boolean object', () => new Boolean(true), 403],
  ['resolves to 1', () => Promise.resolve(1), 403],
  [
    'throws',
    () => {
      throw failure;
    },
    503,
  ],
  ['rejects', () => Promise.reject(failure), 503],
];

/** The path of a rule of the table. */
const pathOf = (what: string): string => what.replaceAll(' ', '-');

describe.each(PLATFORMS)('@Authorize on %s', (_name, platform) => {
  const controllers = [ClientsController, ...RULES.map(([what, rule]) => guardedBy(rule, pathOf(what)))];
  const shared = sharedSample({ controllers }, platform);

  it.each(RULES)('answers a rule that %s with the right status', async (what, _rule, status) => {
    const { service, app } = shared;
    const token = service.signInAs({});
    const ask = async (): Promise<number> => {
      const reply = await app.get(`/${pathOf(what)}/ruled`, token);
      expect(await reply.text()).not.toContain(failure.message);
      return reply.status;
    };

    expect(await always(ask)).toBe(status);
  });

  it.each([
    [7, '/clients/7', 200],
    [7, '/clients/8', 403],
    [undefined, '/clients/7', 403],
  ])('hands the rule the user (client %p) and the context (%s)', async (client, path, status) => {
    const { service, app } = shared;

    expect((await app.get(path, service.signInAs({ ccl_info: { client_id: client } }))).status).toBe(status);
  });

  it.each([
    ['/both', { role: 'boss' }, 403, ['first']],
    ['/role-first', { role: 'clerk' }, 403, []],
    ['/role-first', { role: 'boss' }, 200, ['rule']],
  ])(
    'asks for %s in turn, and no further than the first that is not met',
    async (path, record, status, order) => {
      asked.length = 0;
      const { service, app } = shared;

      expect((await app.get(path, service.signInAs(record))).status).toBe(status);
      expect(asked).toEqual(order);
    },
  );
});
