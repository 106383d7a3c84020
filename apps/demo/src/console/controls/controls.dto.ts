import { IsBoolean, IsIn, Matches, MaxLength } from 'class-validator';
import { type CacheChoice, TTL_SECONDS } from '../../backend/cache-choice.js';
import { type Fault, FAULTS } from '../../session-service/fault.js';
import { type Load, LOADS, type SceneName, SCENES } from '../messages.js';

/** The body of a request to set the fault. */
export class FaultDto {
  @IsIn(FAULTS)
  readonly fault!: Fault;
}

/** The body of a request to change the session cache. */
export class CacheDto implements CacheChoice {
  @IsIn(TTL_SECONDS)
  readonly ttlSeconds!: CacheChoice['ttlSeconds'];

  @IsBoolean()
  readonly refreshAhead!: boolean;

  @IsBoolean()
  readonly staleIfError!: boolean;
}

/** Visible ASCII, the characters of a header value. */
const TOKEN = /^[\x21-\x7e]+$/;

/** The body of a request to start load, with the token that the load presents. */
export class LoadDto {
  @IsIn(LOADS)
  readonly load!: Load;

  @Matches(TOKEN)
  @MaxLength(4_096)
  readonly token!: string;
}

/** The body of a request to run a scene. */
export class SceneDto {
  @IsIn(SCENES)
  readonly scene!: SceneName;
}
