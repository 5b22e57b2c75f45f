// Source: docs/LIVE-UPDATES.md.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { freePort, ServerInProcess, until } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

const PICTURES = process.env['PLINTH_TEST_PICTURES'];
const TALKING = ['--without-auth', '--services', 'tsdb', '--log-level', 'debug'];

async function onPage(
  path: string,
  test: (page: Page, server: ServerInProcess, browser: TestBrowser) => Promise<void>,
): Promise<void> {
  await using server = await ServerInProcess.start({ flags: TALKING });
  const browser = await TestBrowser.start();
  try {
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/console${path}`);
    await test(page, server, browser);
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
  }
}

/** The page's requests to a path from this point on. */
function asked(page: Page, path: string): string[] {
  const urls: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === path) urls.push(request.url());
  });
  return urls;
}

const say = async (server: ServerInProcess, text: string): Promise<void> => {
  await server.http.send(`/ping?said=${text}`);
};

describe('live pages', { skip: SKIP }, () => {
  it('show new log lines without refetching the list', async () => {
    await onPage('/server?tab=logs&find=said%3D', async (page, server) => {
      const streams = asked(page, '/ops/v1/stream');
      const logs = asked(page, '/ops/v1/logs');
      await say(server, 'first');
      await page.getByText('said=first').first().waitFor();
      // The list is fetched once more when the stream starts, possibly after its first lines.
      for (let count = -1; logs.length !== count; await page.waitForTimeout(1000)) {
        count = logs.length;
      }
      logs.length = 0;
      await say(server, 'second');
      await page.getByText('said=second').first().waitFor();
      assert.deepEqual(logs, []);
      assert.ok(streams.length <= 1, streams.join());
      assert.equal(await page.getByText('said=second').count(), 1);
    });
  });

  it('hold new rows back while the user has scrolled, and show them on request', async () => {
    await onPage('/server?tab=logs&find=said%3D', async (page, server, browser) => {
      for (let count = 0; count < 60; count++) await say(server, `row${count}`);
      await page.getByText('said=row59').first().waitFor();
      await page.locator('#content').evaluate((content) => content.scrollTo(0, 600));
      const row = page.getByText('said=row30');
      await row.waitFor();
      const before = await row.boundingBox();
      for (let count = 0; count < 3; count++) await say(server, `late${count}`);
      const button = page.getByRole('button', { name: '3 new' });
      await button.waitFor();
      assert.deepEqual(await row.boundingBox(), before);
      assert.equal(await page.getByText('said=late0').count(), 0);
      assert.deepEqual(await violationsOn(page), []);
      if (PICTURES) {
        await page.screenshot({ path: `${PICTURES}/new-rows-light.png` });
        await page.emulateMedia({ colorScheme: 'dark' });
        await page.screenshot({ path: `${PICTURES}/new-rows-dark.png` });
      }
      await button.click();
      await page.getByText('said=late2').waitFor();
      await say(server, 'marked');
      await page.getByText('said=marked').waitFor();
      await page.getByText('said=late2').selectText();
      await say(server, 'behind');
      await page.getByRole('button', { name: '1 new' }).waitFor();
      assert.equal(await page.getByText('said=behind').count(), 0);
      await page.evaluate('document.getSelection()?.removeAllRanges()');
      await page.getByText('said=behind').waitFor();
      assert.deepEqual(browser.complaints, []);
    });
  });

  it('show running queries', async () => {
    await onPage('/queries', async (page, server) => {
      await page.getByText('this node, live').waitFor();
      await page.getByText('No queries are running').waitFor();
      await server.http.send('/api/v3/query_sql?db=_internal&q=SELECT+4711');
      await page.getByText('SELECT 4711').waitFor();
      const lists = asked(page, '/ops/v1/tsdb/queries');
      await server.http.send('/api/v3/query_sql?db=_internal&q=SELECT+4712');
      await page.getByText('SELECT 4712').waitFor();
      assert.deepEqual(lists, []);
      // The queries that fill the console's own pages appear on request.
      const own = '/* console */ SELECT 4713';
      for (const q of [own, 'SELECT 4714'])
        await server.http.send(`/api/v3/query_sql?${new URLSearchParams({ db: '_internal', q })}`);
      await page.getByText('SELECT 4714').waitFor();
      assert.equal(await page.getByText(own).count(), 0);
      await page.getByLabel('Show queries of the console').check();
      await page
        .getByRole('row', { name: /✓ done .* _internal sql/ })
        .first()
        .waitFor();
      await page.getByText(own).waitFor();
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/queries-all.png` });
    });
  });

  it('poll every five seconds when the stream fails, and say so', async () => {
    await onPage('/server?tab=logs&find=said%3D', async (page, server) => {
      await page.route('**/ops/v1/stream?*', (route) => route.fulfill({ status: 503, body: '{}' }));
      await page.reload();
      await page.getByText('refreshed every 5 s, because live updates are unavailable').waitFor();
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/polling-light.png` });
      await say(server, 'polled');
      await page.getByText('said=polled').waitFor();
      await page.unroute('**/ops/v1/stream?*');
      await page.getByText(/refreshed every 5 s/).waitFor({ state: 'detached' });
      await say(server, 'alive');
      await page.getByText('said=alive').waitFor();
    });
  });

  it('poll after two timeouts of 40 seconds', async () => {
    await onPage('/', async (page, server) => {
      await page.clock.install();
      await page.route('**/ops/v1/stream?*', () => undefined);
      await page.goto(`${server.url}/console/server?tab=logs&find=said%3D`);
      await page.getByText('No log lines match').waitFor();
      const streams = asked(page, '/ops/v1/stream');
      await page.clock.fastForward(39_000);
      assert.equal(streams.length, 0);
      await page.clock.fastForward(2000);
      await until(async () => streams.length === 1, 'another try');
      assert.equal(await page.getByText(/refreshed every 5 s/).count(), 0);
      await page.clock.fastForward(41_000);
      await page.getByText(/refreshed every 5 s/).waitFor();
      await page.unroute('**/ops/v1/stream?*');
      await page.clock.fastForward(3000);
      await page.getByText(/refreshed every 5 s/).waitFor({ state: 'detached' });
    });
  });

  it('close the stream of a tab hidden for a minute, and reopen it when visible', async () => {
    await onPage('/', async (page, server) => {
      await page.clock.install();
      let endCount = 0;
      page.on('requestfailed', (request) => {
        if (request.url().includes('/ops/v1/stream')) endCount++;
      });
      await page.goto(`${server.url}/console/server?tab=logs&find=said%3D`);
      await say(server, 'before');
      await page.getByText('said=before').waitFor();
      const see = async (state: string): Promise<void> =>
        await page.evaluate(
          `Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
           document.dispatchEvent(new Event('visibilitychange'));`,
        );
      endCount = 0;
      await see('hidden');
      await page.clock.fastForward(30_000);
      await say(server, 'soon');
      await page.getByText('said=soon').waitFor();
      await page.clock.fastForward(31_000);
      await until(async () => endCount === 1, 'the end of the stream');
      await say(server, 'asleep');
      await page.clock.runFor(1000);
      assert.equal(await page.getByText('said=asleep').count(), 0);
      await see('visible');
      await page.getByText('said=asleep').waitFor();
      await say(server, 'awake');
      await page.getByText('said=awake').waitFor();
    });
  });

  it('reconnect after a restart of the server, and show all its lines', async () => {
    const port = await freePort();
    const flags = [...TALKING, '--http-bind', `127.0.0.1:${port}`];
    let server = await ServerInProcess.start({ flags });
    const browser = await TestBrowser.start();
    try {
      const page = await (await browser.context()).newPage();
      await page.goto(`${server.url}/console/server?tab=logs&find=said%3D`);
      await say(server, 'before');
      await page.getByText('said=before').waitFor();
      await server.close();
      await page.getByText(/The server has been unreachable since/).waitFor();
      server = await ServerInProcess.start({ flags });
      await say(server, 'meanwhile');
      await page.getByText('said=meanwhile').waitFor();
      await page.getByText(/The server has been unreachable since/).waitFor({ state: 'detached' });
      const logs = asked(page, '/ops/v1/logs');
      await say(server, 'after');
      await page.getByText('said=after').waitFor();
      await until(async () => (await page.getByText('said=before').count()) === 0, 'no old lines');
      assert.deepEqual(logs, []);
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
