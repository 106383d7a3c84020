import { Injectable } from '@nestjs/common';
import { Opening } from './opening.js';

/** Holds the openings in memory: a restart loses all approvals. */
@Injectable()
export class OpeningsService {
  private readonly openings = new Map(
    [
      new Opening('op-1', 'Site engineer'),
      new Opening('op-2', 'Payroll specialist'),
      new Opening('op-3', 'Warehouse lead'),
    ].map((opening) => [opening.id, opening]),
  );

  list(): Opening[] {
    return [...this.openings.values()];
  }

  /** Returns the approved opening, or undefined if no opening has this id. */
  approve(id: string, username: string): Opening | undefined {
    const approved = this.openings.get(id)?.approve(username);
    if (approved) this.openings.set(id, approved);
    return approved;
  }
}
