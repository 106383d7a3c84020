import { Controller, Get } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from 'nestjs-session-auth';
import { PageFiles } from './page-files.js';
import { PageHeaders } from './page-headers.decorator.js';

/** The page on which one tries the backend. */
@Public()
@ApiExcludeController()
@Controller()
export class PageController {
  constructor(private readonly files: PageFiles) {}

  @Get()
  @PageHeaders('text/html')
  html(): string {
    return this.files.html;
  }

  @Get('theme.css')
  @PageHeaders('text/css')
  theme(): string {
    return this.files.theme;
  }

  @Get('style.css')
  @PageHeaders('text/css')
  style(): string {
    return this.files.style;
  }

  @Get('page.js')
  @PageHeaders('text/javascript')
  script(): string {
    return this.files.script;
  }
}
