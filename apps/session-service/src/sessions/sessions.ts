import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type UserProfileRow } from '../database/schema.js';
import { digestOf } from '../secrets/secret-digest.js';
import { Clock } from './clock.js';
import { SessionLimits } from './session-limits.js';
import { SessionRepository } from './session-repository.js';

/** Opens sessions, finds their users by token, and ends them. */
@Injectable()
export class Sessions {
  constructor(
    private readonly repository: SessionRepository,
    private readonly clock: Clock,
    private readonly limits: SessionLimits,
  ) {}

  /** Opens a session. Returns its token: 256 random bits, stored only as a digest. */
  async open(username: string): Promise<string> {
    const token = randomBytes(32).toString('base64url');
    const now = this.clock.now();
    const session = {
      token_digest: digestOf(token),
      username,
      created_at: now,
      expires_at: now + this.limits.lifetimeMs,
    };
    await this.repository.add(session, this.limits.maxPerUser);
    return token;
  }

  /** Returns the user of the token's session, if there is one. */
  findUser(token: string): Promise<UserProfileRow | undefined> {
    return this.repository.findUser(digestOf(token), this.clock.now());
  }

  /** Ends the session of the token. Returns whether there was one. */
  end(token: string): Promise<boolean> {
    return this.repository.remove(digestOf(token), this.clock.now());
  }

  /** Ends every session. Returns their number. */
  endAll(): Promise<number> {
    return this.repository.removeAll();
  }

  /** Deletes expired sessions. Returns their number. */
  purgeExpired(): Promise<number> {
    return this.repository.removeExpired(this.clock.now());
  }
}
