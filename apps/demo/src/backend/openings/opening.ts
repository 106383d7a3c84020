import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** A position that waits for someone to be hired. */
export class Opening {
  @ApiProperty({ example: 'op-1' })
  readonly id: string;

  @ApiProperty({ example: 'Site engineer' })
  readonly title: string;

  @ApiPropertyOptional({ description: 'Username of whoever approved it first; absent until then' })
  readonly approvedBy?: string;

  constructor(id: string, title: string, approvedBy?: string) {
    this.id = id;
    this.title = title;
    if (approvedBy !== undefined) this.approvedBy = approvedBy;
  }

  /** Approving again changes nothing: the first approval stands. */
  approve(username: string): Opening {
    return this.approvedBy === undefined ? new Opening(this.id, this.title, username) : this;
  }
}
