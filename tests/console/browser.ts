import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The installed browser; `undefined` without one, which skips the tests. */
export const CHROMIUM: string | undefined = process.env['PLINTH_CHROMIUM'] ?? found();

function found(): string | undefined {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { stdio: ['ignore', 'pipe', 'ignore'] })
        .toString()
        .trim();
    } catch {
      // Try the next name.
    }
  }
  return undefined;
}

/** The skip reason for `describe`. */
export const SKIP =
  CHROMIUM === undefined ? 'no Chromium on this machine (PLINTH_CHROMIUM)' : false;

/** Counts presses of the mouse. The pages of the console change without loading a document. */
const COUNT_CLICKS = `globalThis.clickCount = 0;
addEventListener('pointerdown', () => { globalThis.clickCount += 1; }, true);`;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'];
const STEP_TIMEOUT_MS = 40_000;

/** Logs the source of each CSP violation, which the browser's own message leaves out. */
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  console.error('refused:', event.violatedDirective, event.sourceFile, event.target?.outerHTML));`;
/** Typing over colored text makes the browser itself style the new text, before the editor takes it over. */
const TYPED_OVER = /^refused: style-src-attr {2}<div class="code-editor-host"><\/div>$/;
/** Messages of the browser that duplicate the violation event. */
const DUPLICATE_MESSAGES =
  /violates the following Content Security Policy directive|Failed to load resource/;

/** A browser that records console errors of its pages. `complaints` must be empty at the end of a test. */
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

  /** Tabs that share storage. */
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
    await context.addInitScript(REPORT_VIOLATIONS);
    await context.addInitScript(COUNT_CLICKS);
    context.on('page', (page) => this.#listen(page));
    return context;
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  #listen(page: Page): void {
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.stack}`));
    page.on('console', (message) => {
      // Failed requests are intended by the tests, which check them.
      const text = message.text();
      if (message.type() !== 'error' || DUPLICATE_MESSAGES.test(text) || TYPED_OVER.test(text))
        return;
      this.complaints.push(`console: ${text}`);
    });
  }
}

/** The clicks on a page since it was loaded. */
export const clicksOn = async (page: Page): Promise<number> =>
  await page.evaluate<number>('globalThis.clickCount');

/** The violations that axe finds against WCAG 2.2 AA and its best practices. Its source is evaluated, so that the page's CSP stays in force. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async (rules) => {
    // biome-ignore lint/suspicious/noExplicitAny: axe has no types in the page.
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
