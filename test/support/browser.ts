import { existsSync } from 'node:fs';
import { describe } from '@jest/globals';
import { chromium, type Browser } from 'playwright-core';

/** Debian's place for it, unless CHROMIUM names another. */
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const installed = existsSync(EXECUTABLE);

/** A suite that needs Chromium: skipped where it is missing, or failing where REQUIRE_SERVICES is set. */
export const describeWithBrowser =
  installed || process.env.REQUIRE_SERVICES === '1' ? describe : describe.skip;

/**
 * Starts a browser without a window. Containers give it no sandbox of its own, and it opens only pages of the
 * servers of the test.
 * @param hosts where the names of hosts lead, as in `MAP example.com 127.0.0.1:8443`
 */
export function startBrowser(hosts: readonly string[] = []): Promise<Browser> {
  const rules = hosts.length === 0 ? [] : [`--host-resolver-rules=${hosts.join(',')}`];
  return chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', ...rules] });
}
