import { describe, expect, it } from '@jest/globals';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { SESSION_REJECTED } from '../contract/denials.js';
import { SessionRejectedError } from '../exceptions/session-exceptions.js';
import { fromBearer, fromCookie } from './token-source.js';
import { Challenges } from './challenges.js';
import { HTTP } from './transport.js';

describe('a denied request', () => {
  it('is rejected with its exception, and its reply has the challenge of the source that found the token', async () => {
    const headers = new Map<string, string>();
    const reply = {
      headersSent: false,
      setHeader: (name: string, value: string) => headers.set(name, value),
    };
    const request = { headers: {} };
    const challenges = new Challenges([fromBearer(), fromCookie('sid')]);
    challenges.presentedBy(1, request);

    const rejection = HTTP.deny(
      HTTP.open(new ExecutionContextHost([request, reply])),
      SESSION_REJECTED,
      challenges,
    );

    await expect(rejection).rejects.toBeInstanceOf(SessionRejectedError);
    expect([...headers]).toEqual([
      ['www-authenticate', 'Bearer realm="session", Cookie realm="session", error="invalid_token"'],
    ]);
  });
});
