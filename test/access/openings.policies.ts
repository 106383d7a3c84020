import { Inject, Injectable, Scope, type ExecutionContext } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import type { AuthorizationPolicy, UserRecord } from 'nestjs-session-auth';

/** A dependency of policies: who owns an opening. */
@Injectable()
export class Openings {
  owns(user: UserRecord): boolean {
    return user.username === 'ann';
  }
}

@Injectable()
export class OwnsOpening implements AuthorizationPolicy {
  constructor(private readonly openings: Openings) {}

  allows(user: UserRecord): boolean {
    return this.openings.owns(user);
  }
}

/** One for each call; numbers its calls. */
@Injectable({ scope: Scope.REQUEST })
export class CallNotes {
  static count = 0;
  readonly number = (CallNotes.count += 1);

  constructor(@Inject(REQUEST) readonly request: object | undefined) {}
}

/** A request-scoped policy, by its dependency. Records its arguments. */
@Injectable()
export class NotesCall implements AuthorizationPolicy {
  static readonly noted: { readonly number: number; readonly request: object | undefined }[] = [];

  constructor(
    private readonly notes: CallNotes,
    private readonly openings: Openings,
  ) {}

  allows(user: UserRecord, context: ExecutionContext): Promise<boolean> {
    NotesCall.noted.push({ number: this.notes.number, request: this.notes.request });
    return Promise.resolve(this.openings.owns(user) && context.getHandler().name !== '');
  }
}

/** Another policy of the same call. */
@Injectable({ scope: Scope.REQUEST })
export class NotesCallAgain extends NotesCall {}
