import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';

const ARTEFACTS = join(import.meta.dirname, '../../dist/page-screenshots');

/** Long enough for a busy machine, and below the time of a test: what was waited for is named. */
const PATIENCE_MS = 40_000;

/** How a visitor comes. */
export interface Visit {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce' | 'no-preference';
  /** For what the page's policy would not load: the accessibility checker. @default false */
  readonly bypassCSP?: boolean;
}

/** Somebody who looks at the page, and what the browser saw meanwhile. */
export class Visitor {
  /** Origins that were asked for anything. */
  readonly origins = new Set<string>();
  /** What went wrong in the page itself: errors, and what its policy forbade. Replies with an error status do not count. */
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
  ) {
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) this.complaints.push(message.text());
    });
  }

  /** Opens the page, and waits until the guard is live. */
  static async of(browser: Browser, url: string, { width = 1440, ...visit }: Visit = {}): Promise<Visitor> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, ...visit });
    context.setDefaultTimeout(PATIENCE_MS);
    const visitor = new Visitor(await context.newPage(), context);
    await visitor.page.goto(url);
    await visitor.guard.locator('[data-connected=true]').waitFor();
    return visitor;
  }

  get guard(): Locator {
    return this.page.getByRole('region', { name: 'The guard' });
  }

  /** One of the two panes. */
  pane(name: 'A' | 'B'): Locator {
    return this.page.getByRole('region', { name: `User ${name}`, exact: true });
  }

  /** Signs in with one click, and waits until the record is there. */
  async signIn(name: 'A' | 'B', username: string): Promise<void> {
    await this.pane(name)
      .getByRole('button', { name: `Sign in as ${username}` })
      .click();
    await this.pane(name).getByRole('button', { name: 'Sign out' }).waitFor();
    await this.pane(name).getByText('200 OK').first().waitFor();
  }

  /** Calls a route, and waits until its status stands beside it. */
  async call(name: 'A' | 'B', route: string, status: string): Promise<void> {
    const pane = this.pane(name);
    await pane.getByRole('button', { name: route, exact: true }).click();
    await pane.getByRole('listitem').filter({ hasText: route }).getByText(status).waitFor();
  }

  /** Chooses one of several, as with a mouse or a finger. */
  async choose(name: string): Promise<void> {
    await this.page.getByRole('radio', { name, exact: true }).check();
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(ARTEFACTS, { recursive: true });
    await this.page.screenshot({ path: join(ARTEFACTS, `${name}.png`), fullPage: true });
  }

  async leave(): Promise<void> {
    await this.context.close();
  }
}
