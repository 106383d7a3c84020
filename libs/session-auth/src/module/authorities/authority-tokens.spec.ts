import { describe, expect, it } from '@jest/globals';
import { SessionHttpService } from '../../client/session-http.service.js';
import { SessionClient } from '../../client/session-client.js';
import { SessionAuthEvents } from '../events/session-auth-events.js';
import { ProvidedBy } from '../options/plugins.js';
import { SessionAuthService } from '../service/session-auth.service.js';
import { SessionAuthModule } from '../session-auth.module.js';
import { authorityToken } from './authority-tokens.js';

const CLASSES = {
  SessionClient,
  SessionAuthService,
  SessionAuthEvents,
  SessionHttpService,
} as const;

function tokensOf(authority: string): unknown[] {
  return Object.values(CLASSES).map((provided) => authorityToken(authority, provided));
}

/** Calls a function while the classes have the names that a bundler gave them. */
function bundled<Result>(run: () => Result): Result {
  const classes = Object.values(CLASSES);
  const names = classes.map((provided) => Object.getOwnPropertyDescriptor(provided, 'name') ?? {});
  for (const provided of classes) Object.defineProperty(provided, 'name', { value: 'a', configurable: true });
  try {
    return run();
  } finally {
    classes.forEach((provided, index) => Object.defineProperty(provided, 'name', names[index] ?? {}));
  }
}

describe('the injection tokens of an authority', () => {
  it('are the classes themselves, if it has no name', () => {
    expect(tokensOf('default')).toEqual(Object.values(CLASSES));
  });

  it('have the name of the class and that of the authority, also in a bundle', () => {
    const expected = Object.keys(CLASSES).map((label) => `${label}@partners`);
    expect(tokensOf('partners')).toEqual(expected);
    expect(bundled(() => tokensOf('partners'))).toEqual(expected);
  });

  it('have the name of a class of a plugin, also in a bundle', () => {
    abstract class a {
      abstract readonly authority: string;
    }
    ProvidedBy('part of entry', 'OfPlugin')(a);
    expect([authorityToken('partners', a), authorityToken('default', a)]).toEqual(['OfPlugin@partners', a]);
  });

  it('are for the service, unless SessionAuthModule.getToken() gets another class', () => {
    expect(SessionAuthModule.getToken('partners')).toBe('SessionAuthService@partners');
  });

  it('have the own name of any other class', () => {
    class OwnService extends SessionAuthService {}
    expect(authorityToken('partners', OwnService as typeof SessionAuthService)).toBe('OwnService@partners');
    expect(authorityToken('default', OwnService as typeof SessionAuthService)).toBe(OwnService);
  });
});
