import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { suiteWith } from './server-process.js';

/** Debian's place for it, unless CHROMIUM names another. */
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
export const describeWithBrowser = suiteWith(existsSync(EXECUTABLE));

/**
 * Starts a browser without a window. Containers give it no sandbox of its own, and it opens only pages of the
 * servers of the test.
 * @param hosts where the names of hosts lead, as in `MAP example.com 127.0.0.1:8443`
 */
export function startBrowser(hosts: readonly string[] = []): Promise<Browser> {
  const rules = hosts.length === 0 ? [] : [`--host-resolver-rules=${hosts.join(',')}`];
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', ...rules] });
}
