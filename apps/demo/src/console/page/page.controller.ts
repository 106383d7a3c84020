import { Controller, Get } from '@nestjs/common';
import { PageFiles } from './page-files.js';
import { PageHeaders } from './page-headers.decorator.js';

/** Serves the page that shows the guard at work. */
@Controller()
export class PageController {
  constructor(private readonly files: PageFiles) {}

  @Get()
  @PageHeaders('text/html')
  html(): string {
    return this.files.html;
  }

  @Get('page.css')
  @PageHeaders('text/css')
  style(): string {
    return this.files.style;
  }

  @Get('page.js')
  @PageHeaders('text/javascript')
  script(): string {
    return this.files.script;
  }

  @Get('sources.json')
  @PageHeaders('application/json')
  sources(): string {
    return this.files.sources;
  }
}
