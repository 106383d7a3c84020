import 'reflect-metadata';
import { ApiProperty } from '@nestjs/swagger';

/** Body of a reply of the guard. */
export class SessionAuthDenial {
  @ApiProperty({ example: 401 }) readonly statusCode!: number;
  @ApiProperty({ example: 'The session is not valid' }) readonly message!: string;
  @ApiProperty({ example: 'Unauthorized' }) readonly error!: string;
  @ApiProperty({
    enum: ['SESSION_REQUIRED', 'SESSION_REJECTED', 'ACCESS_DENIED', 'SESSION_SERVICE_UNAVAILABLE'],
    description: 'Stable, for programs',
  })
  readonly code!: string;
}
