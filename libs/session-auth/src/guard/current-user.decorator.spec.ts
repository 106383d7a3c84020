import { describe, expect, it } from '@jest/globals';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { admissionOf } from '../../../../test/support/session-parts.js';
import { attach } from './guarded-request.js';
import { parameterNameOf } from './access-metadata.js';
import { AuthIv, AuthToken, CurrentSession, CurrentUser } from './current-user.decorator.js';

interface Parameter {
  readonly data: unknown;
  readonly factory: (data: unknown, context: ExecutionContextHost) => unknown;
}

/** The parameter that a decorator declares, as Nest reads it. */
function parameterOf(decorator: ParameterDecorator): Parameter {
  class Routes {
    find(user: unknown): unknown {
      return user;
    }
  }
  decorator(Routes.prototype, 'find', 0);
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, Routes, 'find') as Record<string, Parameter>;
  const [parameter] = Object.values(parameters);
  if (parameter === undefined) throw new Error('the decorator declares no parameter');
  return parameter;
}

function valueOf(decorator: ParameterDecorator, request: object, type = 'http'): unknown {
  const { data, factory } = parameterOf(decorator);
  const context = new ExecutionContextHost([request, {}]);
  context.setType(type);
  return factory(data, context);
}

function admitted(): object {
  const request = {};
  attach(request, admissionOf({ user: { username: 'ann' }, session: { token: 'token', authIv: 'iv' } }));
  return request;
}

const user = CurrentUser() as ParameterDecorator;
const username = CurrentUser('username') as ParameterDecorator;
const token: ParameterDecorator = AuthToken();
const authIv: ParameterDecorator = AuthIv();
const session: ParameterDecorator = CurrentSession();

describe('a parameter of a handler', () => {
  it.each([
    ['without a session', {}, 'http'],
    ['in a context of an unknown kind', admitted(), 'pigeon'],
  ])('is undefined %s', (_name, request, type) => {
    for (const decorator of [user, username, token, authIv, session])
      expect(valueOf(decorator, request, type)).toBeUndefined();
  });

  it('of one field has its pipes', () => {
    const pipe = { transform: () => 'none' };
    const decorator: ParameterDecorator = CurrentUser('email', pipe);
    expect(parameterOf(decorator)).toMatchObject({ data: 'email', pipes: [pipe] });
  });

  it('has a decorator with a name', () => {
    const names = [user, token, authIv, session].map((decorator) =>
      parameterNameOf(parameterOf(decorator).factory),
    );
    expect(names).toEqual(['@CurrentUser()', '@AuthToken()', '@AuthIv()', '@CurrentSession()']);
  });
});
