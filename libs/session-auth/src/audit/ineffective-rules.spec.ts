import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Next, Post, UseGuards, Version, type Type } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { Query, ResolveField, Resolver } from '@nestjs/graphql';
import { EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import { AcknowledgeAudit, Authorize, OptionalAuth, Public, Roles } from '../guard/access.decorators.js';
import { SessionAuthGuard } from '../guard/session-auth.guard.js';
import { handlersIn, type Handler } from '../guard/handlers.js';
import { type AuditContext, auditContextOf } from './audit-context.js';
import { findingsOf } from './findings.js';
import { ineffectiveRulesOf, servedCalls } from './ineffective-rules.js';
import { BEYOND_ROUTES } from './beyond-routes.js';

const CONTEXT = auditContextOf(new ModulesContainer(), new ApplicationConfig(), BEYOND_ROUTES);

const [guarded, isAdmin] = [UseGuards(SessionAuthGuard), Roles('admin')];

const stopping = (text: RegExp): unknown => [[true, expect.stringMatching(text)]];
const warning = (text: RegExp): unknown => [[false, expect.stringMatching(text)]];

/** A class that extends another one, with these decorators on its handler. */
function extending(
  base: new () => object,
  name: string,
  decorators: MethodDecorator[],
  classDecorators: ClassDecorator[] = [],
): Type {
  class Extending extends base {
    handle(): string {
      return name;
    }
  }
  Object.defineProperty(Extending, 'name', { value: name });
  const prototype = Extending.prototype as object;
  Reflect.decorate(decorators, prototype, 'handle', Object.getOwnPropertyDescriptor(prototype, 'handle'));
  Reflect.decorate(classDecorators, Extending);
  return Extending;
}

class Nothing {
  readonly nothing = true;
}

const handlerOf = (owner: Type): Handler => {
  const [handler] = handlersIn(owner);
  if (!handler) throw new Error(`${owner.name} has no handler`);
  return handler;
};

/** With `isGlobal`, the session guard is one of the application. */
type Given = Partial<AuditContext> & { readonly isGlobal?: boolean };

/** Whether each finding stops the application, and its text. */
const found = (
  handler: Handler,
  { isGlobal, ...given }: Given = {},
  handlers: readonly Handler[] = [handler],
): [boolean, string][] => {
  const guarded = (each: Handler): Handler =>
    isGlobal ? { ...each, guards: [SessionAuthGuard, ...each.guards] } : each;
  const context = { ...CONTEXT, ...given, handlers: handlers.map(guarded) };
  const findings = ineffectiveRulesOf(guarded(handler), context, servedCalls(context));
  return findings.filter((each) => each !== undefined).map(({ stops, text }) => [stops, text]);
};

describe('a method that overrides one with a rule', () => {
  const stops = stopping(/^Sub\.handle overrides Base\.handle without its rule: /);
  const warns = warning(/^Sub\.handle overrides /);
  const OtherGuard = { canActivate: () => true };

  it.each<[string, MethodDecorator[], MethodDecorator[], ClassDecorator[], boolean, unknown]>([
    ['a role', [isAdmin], [], [], false, stops],
    ['a role in a closed application', [isAdmin], [], [], true, stops],
    ['a role under another role of its class', [isAdmin], [], [Roles('clerk')], false, warns],
    ['a function', [Authorize(() => true)], [], [], false, stops],
    ['a function under another one', [Authorize(() => true)], [], [Authorize(() => true)], false, warns],
    ['the guard', [guarded], [], [], false, stops],
    ['a role, and has a guard of the application', [isAdmin], [UseGuards(OtherGuard)], [], false, warns],
    ['the guard in a closed application', [guarded], [], [], true, []],
    ['the same role under its class', [isAdmin], [], [Roles('admin')], false, []],
    ['a role, and is public', [isAdmin], [Public()], [], false, []],
    ['a role, and has another', [isAdmin], [Roles('clerk')], [], false, []],
    ['a role, and names the guard', [isAdmin], [guarded], [], false, []],
    ['an optional session', [OptionalAuth()], [], [], false, []],
  ])('is named or not: %s', (_what, ruled, own, ofClass, isGlobal, expected) => {
    const base = extending(Nothing, 'Base', [...ruled, Get()]);
    expect(found(handlerOf(extending(base, 'Sub', [...own, Get()], ofClass)), { isGlobal })).toEqual(
      expected,
    );
  });

  it('is named through classes that override it too, and not if one of them opens it', () => {
    const base = extending(Nothing, 'Base', [isAdmin, Get()]);
    expect(found(handlerOf(extending(extending(base, 'Between', [Get()]), 'Sub', [Get()])))).toEqual(stops);
    expect(
      found(handlerOf(extending(extending(base, 'Between', [Public(), Get()]), 'Sub', [Get()]))),
    ).toEqual([]);
  });
});

describe('a handler that Nest does not guard', () => {
  const resolver = (...decorators: MethodDecorator[]): Handler =>
    handlerOf(extending(Nothing, 'Openings', decorators, [Resolver('Opening')]));
  const text = /^Openings\.handle is not guarded: Nest finds no guards for Openings, /;

  it.each<[string, Handler, Given, unknown]>([
    ['a query', resolver(isAdmin, Query('openings')), {}, stopping(text)],
    ['a field', resolver(isAdmin, ResolveField('title')), {}, stopping(text)],
    ['an optional session', resolver(OptionalAuth(), Query('openings')), {}, warning(text)],
    [
      'a field on which Nest runs no guards',
      resolver(isAdmin, ResolveField('title')),
      { fieldsAreGuarded: false },
      warning(/^Openings\.handle can be reached without its check: /),
    ],
    ['a query in a closed application', resolver(isAdmin, Query('openings')), { isGlobal: true }, []],
    ['a public query', resolver(Public(), Query('openings')), {}, []],
    ['a query without a rule', resolver(Query('openings')), {}, []],
  ])('is named or not: %s', (_what, handler, context, expected) => {
    expect(found({ ...handler, guards: [] }, context)).toEqual(expected);
  });
});

describe('a handler whose field another one resolves', () => {
  const resolver = (name: string, decorators: MethodDecorator[], base: new () => object = Nothing): Handler =>
    handlerOf(extending(base, name, [...decorators, Query('openings')], [Resolver()]));
  const ruled = resolver('Ruled', [isAdmin]);
  const stops = stopping(
    /^Ruled\.handle has a rule without effect: Other\.handle resolves Query\.openings too, /,
  );

  it.each<[string, Handler, Handler, unknown]>([
    ['without a rule', resolver('Other', []), ruled, stops],
    ['with another rule', resolver('Other', [Roles('clerk')]), ruled, stops],
    ['with the same rule', resolver('Other', [Roles('admin')]), ruled, []],
    ['of a subclass that opens it', resolver('Other', [Public()], ruled.owner), ruled, []],
    ['of the same class', ruled, ruled, []],
    ['and that has no rule itself', resolver('Other', []), resolver('Ruled', []), []],
  ])('is named or not: by one %s', (_which, handler, other, expected) => {
    expect(found({ ...handler, replaced: [other] })).toEqual(expected);
  });
});

describe('a gateway beside another one', () => {
  const gateway = (
    name: string,
    event: string,
    decorators: MethodDecorator[],
    ...ofClass: ClassDecorator[]
  ) => handlerOf(extending(Nothing, name, [...decorators, SubscribeMessage(event)], ofClass));
  /** Has the same message as the ruled one. */
  const other = (port = WebSocketGateway(), ...decorators: MethodDecorator[]) =>
    gateway('Other', 'say', decorators, port);
  const ruled = gateway('Ruled', 'say', [isAdmin], WebSocketGateway());
  const protectedOne = gateway('Ruled', 'ask', [], WebSocketGateway(), guarded);
  const optional = gateway('Ruled', 'say', [OptionalAuth()], WebSocketGateway());
  const stops = stopping(/^Other\.handle receives the messages of Ruled\.handle without its rule\. /);
  const warns = warning(/^Other\.handle is open on the port of Ruled, which is guarded\. /);

  it.each<[string, Handler, Handler, Given, unknown]>([
    ['of the same message', other(), ruled, {}, stops],
    ['of another message', gateway('Other', 'other', [], WebSocketGateway()), ruled, {}, []],
    ['of another message, whose class is guarded', other(), protectedOne, {}, warns],
    ['of the same message in a closed application', other(), ruled, { isGlobal: true }, []],
    ['of the same message, that is public', other(undefined, Public()), ruled, {}, []],
    ['of a public class', gateway('Other', 'say', [], WebSocketGateway(), Public()), ruled, {}, []],
    ['of another port', other(WebSocketGateway(81)), ruled, {}, []],
    ['of another path', other(WebSocketGateway({ path: 'b' })), ruled, {}, []],
    ['of another namespace', other(WebSocketGateway({ namespace: 'b' })), ruled, {}, []],
    ['that is no gateway', gateway('Other', 'say', []), ruled, {}, []],
    ['of an optional session', other(), optional, {}, []],
  ])('is named or not: %s', (_which, handler, beside, context, expected) => {
    expect(found(handler, context, [handler, beside])).toEqual(expected);
  });

  it('is the same port if the namespace begins with a slash', () => {
    const own = other(WebSocketGateway({ namespace: 'chat' }));
    const beside = gateway('Ruled', 'say', [isAdmin], WebSocketGateway({ namespace: '/chat' }));
    expect(found(own, {}, [own, beside])).toEqual(stops);
  });
});

describe('an instance that has another function in the place of a method', () => {
  const stops = stopping(/^Bound\.handle may lose its rule: its instance has another function /);
  const replacing = (...decorators: MethodDecorator[]): Handler => {
    const handler = handlerOf(extending(Nothing, 'Bound', [...decorators, Get()], [Roles('admin')]));
    return { ...handler, called: () => 'other' };
  };

  it('stops the application if the method has a rule, also one that the class has too', () => {
    for (const rule of [isAdmin, guarded, Authorize(() => true), Public()])
      expect(found(replacing(rule))).toEqual(stops);
    expect(found(replacing(isAdmin), { isGlobal: true })).toEqual(stops);
  });

  it('is not named if only the class has a rule', () => {
    expect(found(replacing())).toEqual([]);
  });
});

describe('a route or a message that another controller serves', () => {
  const controller = (
    name: string,
    decorators: MethodDecorator[],
    ...classDecorators: ClassDecorator[]
  ): Handler => handlerOf(extending(Nothing, name, decorators, [Controller('list'), ...classDecorators]));
  const prefixesOf = (...handlers: Handler[]) => new Map(handlers.map(({ owner }) => [owner, ['']]));
  const served = (call: string) => [
    [
      true,
      `Ruled.handle has a rule without effect: Other.handle serves ${call} in its place. Remove one of them.`,
    ],
  ];
  const ruled = controller('Ruled', [isAdmin, Get('a')]);
  const ofMessage = controller('Ruled', [isAdmin, MessagePattern({ cmd: 'a' })]);
  const sameMessage = controller('Other', [MessagePattern({ cmd: 'a' })]);
  const overTcp = controller('Other', [MessagePattern({ cmd: 'a' }, Transport.TCP)]);
  const onHost = handlerOf(
    extending(Nothing, 'Other', [Get('a')], [Controller({ path: 'list', host: 'a' })]),
  );
  const nextOf = (handler: Handler): Handler => {
    Next()(handler.owner.prototype as object, 'handle', 0);
    return handler;
  };

  it.each<[string, Handler[], Handler, unknown]>([
    ['first', [controller('Other', [Get('a')]), ruled], ruled, served('GET /list/a')],
    ['first, with the same rule', [controller('Other', [Roles('admin'), Get('a')]), ruled], ruled, []],
    ['later', [ruled, controller('Other', [Get('a')])], ruled, []],
    ['first, with another method', [controller('Other', [Post('a')]), ruled], ruled, []],
    ['first, with another path', [controller('Other', [Get('b')]), ruled], ruled, []],
    ['first, with a version', [controller('Other', [Version('2'), Get('a')]), ruled], ruled, []],
    ['first, on a host', [onHost, ruled], ruled, []],
    ['first, and may pass it on', [nextOf(controller('Other', [Get('a')])), ruled], ruled, []],
    ['last, a message', [ofMessage, sameMessage], ofMessage, served('the message {"cmd":"a"}')],
    ['first, a message', [sameMessage, ofMessage], ofMessage, []],
    ['last, an event', [ofMessage, controller('Other', [EventPattern({ cmd: 'a' })])], ofMessage, []],
    ['last, of a transport', [ofMessage, overTcp], ofMessage, []],
  ])('is named or not: %s', (_how, handlers, handler, expected) => {
    expect(found(handler, { prefixes: prefixesOf(...handlers) }, handlers)).toEqual(expected);
  });
});

describe('an acknowledgement', () => {
  it('hides what may be intended, and not a rule that is certain to have no effect', () => {
    const accept = AcknowledgeAudit('as intended');
    const texts = (owner: Type): string[] =>
      findingsOf({ ...CONTEXT, handlers: handlersIn(owner) }).map(({ text }) => text);
    const contradictory = [Public(), isAdmin, Get()];
    expect(texts(extending(Nothing, 'Base', contradictory))).toHaveLength(1);
    expect(texts(extending(Nothing, 'Base', [accept, ...contradictory]))).toEqual([]);
    const base = extending(Nothing, 'Base', [isAdmin, Get()]);
    expect(texts(extending(base, 'Sub', [accept, Get()]))).toEqual([
      expect.stringMatching(/^Sub\.handle overrides /),
    ]);
  });

  it('needs a reason, and a method', () => {
    for (const reason of ['', ' ', undefined as unknown as string])
      expect(() => AcknowledgeAudit(reason)).toThrow(/needs a reason/);
    const decorate = (): unknown => AcknowledgeAudit('why')({}, 'field', { value: 7 });
    expect(decorate).toThrow(/which is not a method/);
  });
});
