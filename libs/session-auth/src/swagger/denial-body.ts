import 'reflect-metadata';
import { ApiProperty } from '@nestjs/swagger';

/** Body of a reply of the guard. */
export class SessionAuthDenial {
  /** 401, 403 or 503. */
  @ApiProperty({ example: 401 }) readonly statusCode!: number;
  /** For people. */
  @ApiProperty({ example: 'The session is not valid' }) readonly message!: string;
  /** Name of the status. */
  @ApiProperty({ example: 'Unauthorized' }) readonly error!: string;
  /** For programs: it does not change. */
  @ApiProperty({
    enum: ['SESSION_REQUIRED', 'SESSION_REJECTED', 'ACCESS_DENIED', 'SESSION_SERVICE_UNAVAILABLE'],
    description: 'Stable, for programs',
  })
  readonly code!: string;
}
