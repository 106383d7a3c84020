import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { StartError } from '../../settings/start-error.js';

/** Holds the files of the page, read once at startup: no request selects a path. */
@Injectable()
export class PageFiles {
  readonly html = readBuilt('index.html');
  readonly style = readBuilt('page.css');
  readonly script = readBuilt('page.js');
  readonly sources = readBuilt('sources.json');
}

function readBuilt(name: string): string {
  try {
    return readFileSync(new URL(`../../../page/dist/${name}`, import.meta.url), 'utf8');
  } catch {
    throw new StartError('The page of the demo is not built. Run "npm run build:page" first.');
  }
}
