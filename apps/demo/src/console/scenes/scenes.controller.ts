import { type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import {
  Body,
  ConflictException,
  Controller,
  Header,
  HttpCode,
  HttpStatus,
  Post,
  Req,
  StreamableFile,
  UseGuards,
} from '@nestjs/common';
import { SameOriginGuard } from 'nestjs-session-auth/browsers';
import { originOf } from '../../serving/origin-of.js';
import { SceneDto } from '../controls/controls.dto.js';
import { LoadRuns } from '../load/load-runs.js';
import { SceneRuns } from './scene-runs.js';

/** The part of a request that Express and Fastify share. */
interface Request {
  readonly socket: Pick<Socket, 'localAddress' | 'localPort' | 'localFamily' | 'once' | 'off'>;
}

/** Runs scenes. The reply is a line of JSON for each step; the visitor who closes it ends the scene. */
@UseGuards(SameOriginGuard)
@Controller('console/scenes')
export class ScenesController {
  constructor(
    private readonly scenes: SceneRuns,
    private readonly load: LoadRuns,
  ) {}

  @Post()
  @HttpCode(HttpStatus.OK)
  @Header('Cache-Control', 'no-store')
  run(@Body() { scene }: SceneDto, @Req() { socket }: Request): StreamableFile {
    if (this.scenes.running !== undefined)
      throw new ConflictException('A scene is running: wait until it ends.');
    this.load.stop();
    const { localAddress = '', localFamily, localPort = 0 } = socket;
    const origin = originOf({ address: localAddress, family: localFamily, port: localPort });
    const lines = new PassThrough();
    const left = new AbortController();
    const leave = (): void => left.abort();
    socket.once('close', leave);
    void this.scenes
      .run(scene, origin, left.signal, (line) => lines.write(`${JSON.stringify(line)}\n`))
      .finally(() => {
        socket.off('close', leave);
        lines.end();
      });
    return new StreamableFile(lines, { type: 'application/x-ndjson' });
  }
}
