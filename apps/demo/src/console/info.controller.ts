import { Controller, Get, Header } from '@nestjs/common';
import { ConsoleParts } from './console-parts.js';
import { type ConsoleInfo } from './messages.js';

/** The users and the controls that the page offers. */
@Controller('console/info')
export class InfoController {
  constructor(private readonly parts: ConsoleParts) {}

  @Get()
  @Header('Cache-Control', 'no-store')
  read(): ConsoleInfo {
    return this.parts.info;
  }
}
