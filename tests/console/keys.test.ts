// Source: docs/CONSOLE.md; WCAG 2.2: 2.1.1 Keyboard, 2.1.2 No Keyboard Trap, 2.1.4 Character Key Shortcuts, 2.4.3 Focus Order.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess, WebhookReceiver } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

let server: ServerInProcess;
let receiver: WebhookReceiver;
let browser: TestBrowser;
let page: Page;
/** The time of the spike. */
let spikeMs = 0;
const SPIKE_MINUTES = 10;

/** The accessible name of the focused element. */
const FOCUSED = `(() => {
  const { activeElement: at } = document;
  const label = at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent ?? '';
  return label.trim().replace(/\\s+/g, ' ');
})()`;

describe('by keyboard', { skip: SKIP }, () => {
  before(async () => {
    receiver = await WebhookReceiver.start((_, response) => {
      response.writeHead(receiver.deliveries.length === 1 ? 500 : 200).end('ok');
    });
    server = await ServerInProcess.start({
      flags: [
        ...['--services', 'tsdb,webhooks,ratelimit', '--without-auth'],
        ...['--webhooks-allow-private-targets', '127.0.0.0/8'],
      ],
    });
    const nowSec = Math.floor(Date.now() / 1000);
    const body = Array.from({ length: 50 }, (_, index) => [
      `cpu,host=a usage=10 ${nowSec - 60 * index}`,
      `cpu,host=b usage=${index === SPIKE_MINUTES ? 500 : 10} ${nowSec - 60 * index}`,
    ]);
    spikeMs = (nowSec - 60 * SPIKE_MINUTES) * 1000;
    const path = '/api/v3/write_lp?db=home&precision=second';
    assert.equal((await server.http.send(path, { body: body.flat().join('\n') })).status, 204);
    browser = await TestBrowser.start();
    const context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
    await receiver?.[Symbol.asyncDispose]();
  });

  const tabTo = async (name: RegExp, maxPresses = 80): Promise<void> => {
    for (let presses = 0; presses < maxPresses; presses++) {
      await page.keyboard.press('Tab');
      if (name.test(await page.evaluate<string>(FOCUSED))) return;
    }
    assert.fail(`nothing named ${name} has the focus after ${maxPresses} presses of Tab`);
  };

  it('finds a failed delivery and redelivers it', async () => {
    await server.http.send('/ops/v1/apps', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'ci',
        webhook: { url: `${receiver.url}/hook`, events: ['push'] },
      }),
    });
    await page.goto(`${server.url}/console/`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    // The only app opens at once.
    await page.getByRole('row', { name: /ping ✕ 500/ }).waitFor();
    await page.keyboard.press('j');
    assert.match(await page.evaluate<string>(FOCUSED), /^2\d{3}-\d\d-\d\d /);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'ping' }).waitFor();
    await tabTo(/^Redeliver$/);
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /ping ✓ 200 OK Redelivered/ }).waitFor();
    assert.equal(receiver.deliveries.length, 2);
  });

  it('plots one host, zooms into a spike and shares the link', async () => {
    await page.goto(`${server.url}/console/`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('button', { name: 'Plot usage of cpu' }).waitFor();
    await page.keyboard.press('/');
    await tabTo(/^cpu$/, 4);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.evaluate<string>(FOCUSED), /^Plot usage of cpu$/);
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /2 series.*highest 500 for host=b/ }).waitFor();
    await tabTo(/^host=a$/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    assert.match(await page.evaluate<string>(FOCUSED), /^Filter for host=b$/);
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /1 series.*highest 500/ }).waitFor();
    await page.keyboard.press('v');
    assert.match(await page.evaluate<string>(FOCUSED), /^1 series/);
    const spoken = page.locator('.time-chart [role=status]');
    for (let presses = 0; presses < 50; presses++) {
      await page.keyboard.press('ArrowLeft');
      if (/ 500$/.test((await spoken.textContent()) ?? '')) break;
    }
    assert.match((await spoken.textContent()) ?? '', /: host=b 500$/);
    const rangeOf = (address: string) => {
      const { searchParams } = new URL(address);
      return ['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? '')) as [
        number,
        number,
      ];
    };
    // A second press before the points of the first have loaded zooms twice.
    for (const { presses, minutes } of [
      { presses: 1, minutes: 30 },
      { presses: 2, minutes: 7.5 },
    ]) {
      for (let press = 0; press < presses; press++) await page.keyboard.press('+');
      await page.waitForURL((url) => {
        const [from, to] = rangeOf(url.href);
        return Math.abs(to - from - minutes * 60_000) < 10;
      });
      await page.getByRole('img', { name: /1 series.*highest 500/ }).waitFor();
      assert.match(await page.evaluate<string>(FOCUSED), /^1 series/);
    }
    await tabTo(/^Share$/);
    await page.keyboard.press('Enter');
    await page.getByText('Link copied', { exact: true }).waitFor();
    const [from, to] = rangeOf(await page.evaluate<string>('navigator.clipboard.readText()'));
    assert.ok(from < spikeMs && spikeMs < to);
    await tabTo(/^1 series/);
    await page.keyboard.press('-');
    await page.waitForURL((url) => {
      const [wideFrom, wideTo] = rangeOf(url.href);
      return Math.abs(wideTo - wideFrom - 15 * 60_000) < 10;
    });
    await page.keyboard.press('t');
    await page.getByRole('grid').waitFor();
    await page.keyboard.press('v');
    assert.equal(await page.evaluate<string>('document.activeElement.role'), 'grid');
  });

  it('shows the complete focus ring of the editor', async () => {
    await page.goto(`${server.url}/console/explore?db=home&q=SELECT+1`);
    await page.locator('.cm-content').focus();
    const box = await page.locator('.cm-editor').boundingBox();
    assert.ok(box);
    const { x, y, width, height } = box;
    const picture = (await page.screenshot()).toString('base64');
    const own = await (await browser.context()).newPage();
    const places = [
      [x + 1, y + height / 2],
      [x + width - 1, y + height / 2],
      [x + width / 2, y + 1],
      [x + width / 2, y + height - 1],
    ].map((place) => place.map(Math.floor));
    const colours = await own.evaluate<readonly string[]>(`(async () => {
      const blob = await (await fetch('data:image/png;base64,${picture}')).blob();
      const bitmap = await createImageBitmap(blob);
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      context.drawImage(bitmap, 0, 0);
      return ${JSON.stringify(places)}.map(([x, y]) => [...context.getImageData(x, y, 1, 1).data].slice(0, 3).join(' '));
    })()`);
    // --focus of the light theme: #0a6b5b.
    assert.deepEqual(colours, Array(4).fill('10 107 91'));
  });

  /** The focused element, and whether it has a visible focus ring. */
  const look = () =>
    page.evaluate<{
      readonly isPage: boolean;
      readonly name: string;
      readonly isSeen: boolean;
    }>(`(() => {
          const { activeElement: at } = document;
          const isPage = at === document.body || at === document.documentElement;
          const inner = at.shadowRoot?.activeElement ?? at;
          const style = getComputedStyle(inner);
          const editor = inner.closest('.cm-editor');
          const hasRing = (each) => { const s = getComputedStyle(each); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; };
          const box = inner.getBoundingClientRect();
          return {
            isPage,
            name: at.outerHTML.slice(0, 120),
            isSeen: isPage || hasRing(inner) || (editor !== null && hasRing(editor)) ||
              (inner.type === 'radio' || inner.type === 'checkbox') && style.outlineStyle !== 'none',
          };
        })()`);

  it('leaves every page with Tab, and shows the focus at each step', async () => {
    for (const path of [
      '',
      'explore',
      'data',
      'storage',
      'caches',
      'triggers',
      'webhooks?all=1',
      'limits',
      'queries',
      'tokens',
      'server',
    ]) {
      await page.goto(`${server.url}/console/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const seen = new Set<string>();
      let hasLeft = false;
      for (let presses = 0; presses < 150 && !hasLeft; presses++) {
        await page.keyboard.press('Tab');
        let at = await look();
        // The editor shows its focus ring with a delay.
        for (let tries = 0; tries < 40 && !at.isSeen; tries++) {
          await page.waitForTimeout(25);
          at = await look();
        }
        hasLeft = at.isPage;
        if (!hasLeft) seen.add(at.name);
        assert.ok(at.isSeen, `${path}: no ring around ${at.name}`);
      }
      assert.ok(hasLeft, `${path}: after 150 presses of Tab the page is not left`);
      assert.ok(seen.size > 10, `${path}: ${seen.size} places`);
    }
  });

  it('turns single-key shortcuts off', async () => {
    await page.goto(`${server.url}/console/data`);
    await page.getByRole('heading', { name: 'Databases' }).waitFor();
    const go = async (letter: string): Promise<void> => {
      await page.keyboard.press('g');
      await page.keyboard.press(letter);
    };
    await go('q');
    await page.getByRole('heading', { name: 'Queries' }).waitFor();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Shortcuts' });
    await dialog.waitFor();
    assert.deepEqual(await violationsOn(page), []);
    const choice = dialog.getByRole('checkbox', { name: /single-key shortcuts/ });
    await choice.focus();
    await page.keyboard.press('Space');
    assert.ok(!(await choice.isChecked()));
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await go('d');
    await page.keyboard.press('?');
    await page.keyboard.press('/');
    await page.waitForTimeout(300);
    assert.equal(await dialog.count(), 0);
    await page.getByRole('heading', { name: 'Queries' }).waitFor();
    // The choice is stored, shortcuts with Ctrl still work, and the list is still available.
    await page.reload();
    await page.getByRole('heading', { name: 'Queries' }).waitFor();
    await go('d');
    await page.keyboard.press('Control+K');
    await page.getByRole('combobox').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('menuitem', { name: 'Shortcuts' }).click();
    await choice.check();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await go('d');
    await page.getByRole('heading', { name: 'Databases' }).waitFor();
  });

  it('causes no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});
