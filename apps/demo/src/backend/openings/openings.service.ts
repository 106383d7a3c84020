import { Injectable } from '@nestjs/common';
import { Opening } from './opening.js';

/** The openings, in memory: a restart forgets all approvals. */
@Injectable()
export class OpeningsService {
  private readonly openings = new Map(
    [new Opening('op-1', 'Site engineer'), new Opening('op-2', 'Payroll specialist'), new Opening('op-3', 'Warehouse lead')].map(
      (opening) => [opening.id, opening],
    ),
  );

  list(): Opening[] {
    return [...this.openings.values()];
  }

  /** The approved opening, or undefined if there is none with this id. */
  approve(id: string, username: string): Opening | undefined {
    const approved = this.openings.get(id)?.approve(username);
    if (approved) this.openings.set(id, approved);
    return approved;
  }
}
