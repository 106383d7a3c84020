import { IsBoolean, IsIn, Matches, MaxLength } from 'class-validator';
import { type CacheChoice, TTL_SECONDS } from '../../backend/cache-choice.js';
import { type Fault, FAULTS } from '../../session-service/fault.js';
import { type Load, LOADS } from '../messages.js';

/** The body that chooses a fault. */
export class FaultDto {
  @IsIn(FAULTS)
  readonly fault!: Fault;
}

/** The body that chooses a memory. */
export class CacheDto implements CacheChoice {
  @IsIn(TTL_SECONDS)
  readonly ttlSeconds!: CacheChoice['ttlSeconds'];

  @IsBoolean()
  readonly refreshAhead!: boolean;

  @IsBoolean()
  readonly staleIfError!: boolean;
}

/** Visible ASCII: anything else is in no header. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The body that orders load, with the token that its requests present. */
export class LoadDto {
  @IsIn(LOADS)
  readonly load!: Load;

  @Matches(TOKEN)
  @MaxLength(4_096)
  readonly token!: string;
}
