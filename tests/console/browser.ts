import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Of the machine, not of a package; `undefined`: there is none, and tests say so and skip. */
export const CHROMIUM: string | undefined = process.env['PLINTH_CHROMIUM'] ?? found();

function found(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { stdio: ['ignore', 'pipe', 'ignore'] })
        .toString()
        .trim();
    } catch {
      // The next one may be there.
    }
  }
  return undefined;
}

/** For `describe`: why these tests do not run here. */
export const SKIP =
  CHROMIUM === undefined ? 'no Chromium on this machine (PLINTH_CHROMIUM)' : false;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];
const STEP_TIMEOUT_MS = 40_000;

/** Where in the page something was refused, which the browser's own words do not say. */
const TELL_OF_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('refused:', event.violatedDirective, event.sourceFile, event.target?.outerHTML));`;
/** Who replaces coloured text by typing has the browser itself style what is typed, before the editor takes it over. */
const TYPED_OVER = /^refused: style-src-attr {2}<div class="code-editor-host"><\/div>$/;
/** The browser's words for what is told by the event, with its place. */
const TOLD_OTHERWISE =
  /violates the following Content Security Policy directive|Failed to load resource/;

/** A browser whose pages must behave: what they report as wrong is kept, and `complaints` must be empty at the end. */
export class TestBrowser {
  readonly #browser: Browser;
  readonly complaints: string[] = [];

  static async start(): Promise<TestBrowser> {
    const browser = await chromium.launch({
      executablePath: CHROMIUM ?? '',
      args: ['--no-sandbox'],
    });
    return new TestBrowser(browser);
  }

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Tabs that share what a browser keeps. */
  async context(
    options: {
      readonly theme?: 'light' | 'dark';
      readonly width?: number;
      readonly height?: number;
      readonly token?: string;
    } = {},
  ): Promise<BrowserContext> {
    const { theme = 'light', width = 1280, height = 800, token } = options;
    const context = await this.#browser.newContext({
      viewport: { width, height },
      colorScheme: theme,
      reducedMotion: 'reduce',
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(STEP_TIMEOUT_MS);
    if (token !== undefined) {
      await context.addInitScript(
        `if (location.protocol === 'http:') sessionStorage.setItem('plinth-token', ${JSON.stringify(token)})`,
      );
    }
    await context.addInitScript(TELL_OF_VIOLATIONS);
    context.on('page', (page) => this.#listen(page));
    return context;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  #listen(page: Page): void {
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.stack}`));
    page.on('console', (message) => {
      // That a request was refused is the test's own doing, and looked at there.
      const text = message.text();
      if (message.type() !== 'error' || TOLD_OTHERWISE.test(text) || TYPED_OVER.test(text)) return;
      this.complaints.push(`console: ${text}`);
    });
  }
}

/** What axe finds against WCAG 2.2 AA; its source is evaluated, so that the page's policy stays as it is. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async (rules) => {
    // biome-ignore lint/suspicious/noExplicitAny: axe is no part of the page's types.
    const { axe } = globalThis as any;
    const { violations } = await axe.run({ runOnly: { type: 'tag', values: rules } });
    return violations as readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
    }[];
  }, RULES);
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}\n${failureSummary}`),
  );
}
