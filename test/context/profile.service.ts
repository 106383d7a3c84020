import { Injectable, Scope } from '@nestjs/common';
import { SessionContext } from 'nestjs-session-auth/context';

/** Reads the user far from any handler. */
@Injectable()
export class ProfileService {
  constructor(readonly session: SessionContext) {}

  /** The name of the current user. */
  name(): string {
    return this.session.findUser()?.username ?? 'anonymous';
  }

  /** The same, several turns of the event loop later. */
  async nameLater(): Promise<string> {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return this.name();
  }
}

/** Created for each request. */
@Injectable({ scope: Scope.REQUEST })
export class RequestProfile {
  constructor(private readonly profile: ProfileService) {}

  name(): string {
    return this.profile.name();
  }
}
