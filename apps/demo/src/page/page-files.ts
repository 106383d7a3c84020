import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';

/** The files of the page, read once at bootstrap: no request ever names a path. */
@Injectable()
export class PageFiles {
  readonly html = readPublic('index.html');
  readonly theme = readPublic('theme.css');
  readonly style = readPublic('style.css');
  readonly script = readPublic('page.js');
}

function readPublic(name: string): string {
  return readFileSync(new URL(`../../public/${name}`, import.meta.url), 'utf8');
}
