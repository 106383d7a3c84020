import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { type SceneName } from '../../apps/demo/src/console/messages.js';
import { SCRIPTS } from '../../apps/demo/page/scenes/scripts.js';

const ARTEFACTS = join(import.meta.dirname, '../../dist/page-screenshots');

/**
 * Long enough for a busy machine, and below the time limit of a test, so that the error names the condition.
 */
const PATIENCE_MS = 40_000;

/** Draws at most ten frames a second: without a GPU, more would take most of the processor's time. */
const FEW_FRAMES = `
  const frame = requestAnimationFrame;
  const cancelled = new Set();
  globalThis.requestAnimationFrame = (draw) => {
    const id = setTimeout(() => frame((now) => cancelled.has(id) || draw(now)), 100);
    return id;
  };
  globalThis.cancelAnimationFrame = (id) => void cancelled.add(id);`;

export interface Visit {
  readonly width?: number;
  readonly height?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce' | 'no-preference';
  /** Permits scripts that the page's policy would not load: the accessibility checker. @default false */
  readonly bypassCSP?: boolean;
}

async function openTab(context: BrowserContext): Promise<Page> {
  context.setDefaultTimeout(PATIENCE_MS);
  const tab = await context.newPage();
  await tab.addInitScript(FEW_FRAMES);
  return tab;
}

/** A visitor of the page, with the events of the browser. */
export class Visitor {
  /** Origins that were asked for anything. */
  readonly origins = new Set<string>();
  /**
   * Failures of the page itself: errors, and violations of its policy. Replies with an error status do not
   * count.
   */
  readonly complaints: string[] = [];

  private constructor(readonly page: Page) {
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.complaints.push(message.text());
    });
  }

  /** Opens the page, and waits until the guard is live. */
  static async of(
    browser: Browser,
    url: string,
    { width = 1440, height = 900, ...visit }: Visit = {},
  ): Promise<Visitor> {
    const tab = await openTab(await browser.newContext(visit));
    await tab.setViewportSize({ width, height });
    const visitor = new Visitor(tab);
    await visitor.page.goto(url);
    await visitor.lane.locator('.stream[data-connected=true]').waitFor();
    return visitor;
  }

  get lane(): Locator {
    return this.page.getByRole('region', { name: 'The way of a request' });
  }

  get drawer(): Locator {
    return this.page.getByRole('complementary', { name: 'Free play' });
  }

  async start(scene: SceneName): Promise<void> {
    await this.page.getByRole('button', { name: SCRIPTS[scene].title }).click();
  }

  /** Waits until a scene has ended. Resolves to its figure with the caption. */
  async figure(): Promise<string> {
    return (await this.page.locator('.big').textContent()) ?? '';
  }

  /** Opens free play. */
  async play(): Promise<void> {
    await this.page.getByRole('button', { name: 'Free play' }).click();
    await this.drawer.waitFor();
  }

  /** Sends as a user from now on, and waits until the user is signed in. */
  async sendAs(username: string): Promise<void> {
    await this.choose(username);
    await this.drawer.getByText(`Signed in as ${username}`).waitFor();
    await this.drawer.getByText('200 OK').first().waitFor();
  }

  /** Calls a route, and waits until its status stands beside it. */
  async call(route: string, status: string): Promise<void> {
    await this.drawer.getByRole('button', { name: route, exact: true }).click();
    await this.drawer.getByRole('listitem').filter({ hasText: route }).getByText(status).waitFor();
  }

  /** Waits until the last reply is shown with an explanation. */
  async explained(text: string | RegExp): Promise<void> {
    await this.drawer.locator('.exchange > p').filter({ hasText: text }).waitFor();
  }

  /** Chooses one of several, as with a mouse or a finger. */
  async choose(name: string): Promise<void> {
    await this.page.getByRole('radio', { name, exact: true }).check();
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(ARTEFACTS, { recursive: true });
    await this.page.screenshot({ path: join(ARTEFACTS, `${name}.png`) });
  }

  async leave(): Promise<void> {
    this.page.removeAllListeners();
    await this.page.context().close();
  }
}
