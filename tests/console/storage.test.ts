// Source: docs/CONSOLE.md; the console's storage page and `/ops/v1/tsdb/storage`.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

const HOUR_NS = 3_600_000_000_000n;
const SECOND_NS = 1_000_000_000n;
const START_NS = 1_577_836_800_000_000_000n; // 2020-01-01

async function write(server: ServerInProcess, index: number): Promise<void> {
  const at = START_NS + BigInt(index) * HOUR_NS;
  const body = `m v=1 ${at}\nm v=2 ${at + HOUR_NS + SECOND_NS}`;
  const { status } = await server.http.send('/api/v3/write_lp?db=home', { body });
  assert.equal(status, 204);
}

async function parquetFiles(
  server: ServerInProcess,
): Promise<readonly { readonly path: string }[]> {
  const q = 'SELECT path FROM system.parquet_files';
  const search = new URLSearchParams({ db: 'home', format: 'json_rows', q });
  return JSON.parse((await server.http.send(`/api/v3/query_sql?${search}`)).text);
}

async function flush(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Flush now' });
  await page.reload();
  const started = page.getByText('Flush started').first();
  // After a reload, the first live event can be a second old and disable the button during a click. On a busy machine the
  // message can be later than the flush, after which the button is disabled.
  let isStarted = false;
  for (let attempt = 0; attempt < 8 && !isStarted; attempt++) {
    await button.click({ timeout: 3000 }).catch(() => undefined);
    isStarted = await started.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  }
  assert.ok(isStarted, 'the flush has started');
  await button.and(page.locator(':disabled')).waitFor();
  await page.getByText(/UTC, in/).waitFor();
}

it('flushes rows and compacts files with a button, and shows the files on a time axis', {
  skip: SKIP,
}, async () => {
  const browser = await TestBrowser.start();
  // The server's own metrics are rows to flush again.
  const server = await ServerInProcess.start({
    flags: [
      ...['--services', 'tsdb', '--without-auth'],
      ...['--tsdb-internal-metrics-interval-ms', '0'],
    ],
  });
  try {
    const page = await (await browser.context()).newPage();
    await write(server, 0);
    await page.goto(`${server.url}/console/storage?db=home`);
    await page.getByText('none since startup').waitFor();
    for (let index = 0; index < 3; index++) {
      if (index > 0) await write(server, index);
      await flush(page);
      for (let left = 200; (await parquetFiles(server)).length <= index; left--) {
        assert.ok(left > 0, `file ${index} does not exist`);
        await sleep(50);
      }
    }
    await page.getByRole('link', { name: 'm', exact: true }).click();
    // Each file overlaps the next one by a second, so they are drawn in two rows.
    await page
      .getByRole('img', {
        name: '3 files from 2020-01-01 00:00:00 to 2020-01-01 03:00:01, at most 2 overlapping',
      })
      .waitFor();
    const files = await parquetFiles(server);
    assert.equal(files.length, 3);
    assert.equal(await page.locator('.file-strip rect').count(), 3);
    for (const { path } of files)
      await page.getByRole('button', { name: path.split('/').at(-1) ?? '' }).waitFor();
    assert.deepEqual(await violationsOn(page), []);

    // Open one file by keyboard.
    const [first] = files;
    await page.getByRole('button', { name: first?.path.split('/').at(-1) ?? '' }).focus();
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'File' });
    await drawer.getByText(first?.path ?? '').waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Compact', exact: true }).click();
    await page.getByText('Compaction started').waitFor();
    await page
      .getByRole('img', { name: /^1 file from 2020-01-01 00:00:00 to 2020-01-01 03:00:01/ })
      .waitFor();
    await page.getByRole('row', { name: /03:00:01 6 .*merged, level 1/ }).waitFor();
    assert.equal((await parquetFiles(server)).length, 1);
    assert.ok(await page.getByRole('button', { name: 'Compact', exact: true }).isDisabled());
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
