import { type Socket } from 'node:net';
import { Controller, HttpCode, HttpStatus, Post, Req, UseGuards } from '@nestjs/common';
import { SameOriginGuard } from 'nestjs-session-auth/browsers';
import { originOf } from '../../serving/origin-of.js';
import { LoadRuns } from '../load/load-runs.js';
import { SceneRuns } from '../scenes/scene-runs.js';
import { Trickle } from './trickle.js';

/** The part of a request that Express and Fastify share. */
interface Request {
  readonly socket: Pick<Socket, 'localAddress' | 'localPort' | 'localFamily'>;
}

/** Sends a few requests while neither a scene nor load runs, whose figures they would change. */
@UseGuards(SameOriginGuard)
@Controller('console/trickle')
export class TrickleController {
  constructor(
    private readonly trickle: Trickle,
    private readonly scenes: SceneRuns,
    private readonly load: LoadRuns,
  ) {}

  @Post()
  @HttpCode(HttpStatus.NO_CONTENT)
  async next(@Req() { socket: { localAddress = '', localFamily, localPort = 0 } }: Request): Promise<void> {
    if (this.scenes.running !== undefined || this.load.isRunning) return;
    await this.trickle.next(originOf({ address: localAddress, family: localFamily, port: localPort }));
  }
}
