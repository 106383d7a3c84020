import { type Socket } from 'node:net';
import {
  Body,
  ConflictException,
  Controller,
  Delete,
  HttpCode,
  HttpStatus,
  Post,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { SameOriginGuard } from 'nestjs-session-auth/browsers';
import { originOf } from '../../serving/origin-of.js';
import { LoadDto } from '../controls/controls.dto.js';
import { NoSceneGuard } from '../controls/no-scene.guard.js';
import { type LoadResult } from '../messages.js';
import { Trickle } from '../trickle/trickle.js';
import { LoadRuns } from './load-runs.js';

/** The parts of a request and a reply that Express and Fastify share. */
interface Request {
  readonly socket: Pick<Socket, 'localAddress' | 'localPort' | 'localFamily'>;
}
interface Reply {
  status(code: number): unknown;
}

/** Starts and stops load on the backend. */
@UseGuards(SameOriginGuard, NoSceneGuard)
@Controller('console/load')
export class LoadController {
  constructor(
    private readonly runs: LoadRuns,
    private readonly trickle: Trickle,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  async start(
    @Body() { load, token }: LoadDto,
    @Req() request: Request,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<LoadResult | undefined> {
    await this.trickle.settled();
    if (this.runs.isRunning)
      throw new ConflictException('A run of load is in progress: wait until it ends, or stop it.');
    if (load === 'stampede') return this.runs.stampede(originOfRequest(request), token);
    this.runs.steady(originOfRequest(request), token);
    reply.status(HttpStatus.ACCEPTED);
    return undefined;
  }

  @Delete()
  @HttpCode(HttpStatus.NO_CONTENT)
  stop(): void {
    this.runs.stop();
  }
}

/** Returns the origin at which this request arrived. */
function originOfRequest({ socket: { localAddress = '', localFamily, localPort = 0 } }: Request): string {
  return originOf({ address: localAddress, family: localFamily, port: localPort });
}
