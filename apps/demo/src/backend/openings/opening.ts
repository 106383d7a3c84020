import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** A position to fill. */
export class Opening {
  @ApiProperty({ example: 'op-1' })
  readonly id: string;

  @ApiProperty({ example: 'Site engineer' })
  readonly title: string;

  @ApiPropertyOptional({ description: 'Username of the first approver; absent before the approval' })
  readonly approvedBy?: string;

  constructor(id: string, title: string, approvedBy?: string) {
    this.id = id;
    this.title = title;
    if (approvedBy !== undefined) this.approvedBy = approvedBy;
  }

  /** Returns the approved opening. Another approval changes nothing: the first one stands. */
  approve(username: string): Opening {
    return this.approvedBy === undefined ? new Opening(this.id, this.title, username) : this;
  }
}
