import { describe, expect, it } from '@jest/globals';
import { Roles } from '../../guard/access.decorators.js';
import type { Handler } from './handlers.js';
import { findingsOf } from './findings.js';

class ChatGateway {
  say(): string {
    return 'said';
  }

  @Roles('boss')
  order(): string {
    return 'ordered';
  }
}

function message(name: 'order' | 'say'): Handler {
  return { kind: 'gateway', owner: ChatGateway, name, method: Reflect.get(ChatGateway.prototype, name) };
}

describe('what the audit finds of gateways without a guard of their own', () => {
  const covered = { isGlobal: true, gatewaysAreCovered: true, fieldsAreGuarded: true };
  const uncovered = { ...covered, gatewaysAreCovered: false };

  it('is nothing where the guard of the whole application reaches them, as on NestJS 12', () => {
    expect([...findingsOf(message('say'), covered), ...findingsOf(message('order'), covered)]).toEqual([]);
  });

  it('is every message that is not public where it does not, as on NestJS 11', () => {
    expect(findingsOf(message('say'), uncovered)).toEqual([expect.stringMatching(/^ChatGateway\.say is open: guards of the whole/)]);
    expect(findingsOf(message('order'), uncovered)).toHaveLength(1);
  });

  it('is only what requires something where nobody guards the whole application', () => {
    const alone = { ...covered, isGlobal: false };
    expect(findingsOf(message('say'), alone)).toEqual([]);
    expect(findingsOf(message('order'), alone)).toEqual([expect.stringMatching(/^ChatGateway\.order says who may enter, and nobody asks/)]);
  });
});
