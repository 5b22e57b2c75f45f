// Source: docs/CONSOLE.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

it('shows the files of a table on a time axis', { skip: SKIP }, async () => {
  const browser = await TestBrowser.start();
  const server = await ServerInProcess.start({
    flags: ['--services', 'tsdb', '--without-auth', '--tsdb-buffer-flush-age-ms', '300'],
  });
  try {
    const page = await (await browser.context()).newPage();
    const body = 'm v=1 1577836800000000000\nm v=2 1577840400000000000';
    await server.http.send('/api/v3/write_lp?db=home', { method: 'POST', body });
    await page.goto(`${server.url}/console/data/home/m`);
    await page.getByText('No files yet').or(page.locator('.file-strip')).waitFor();
    for (
      let attempt = 0;
      attempt < 50 && (await page.locator('.file-strip').count()) === 0;
      attempt++
    ) {
      await page.reload();
      await page.getByText('No files yet').or(page.locator('.file-strip')).waitFor();
    }
    await page
      .getByRole('img', {
        name: '1 file from 2020-01-01 00:00:00 to 2020-01-01 01:00:00, at most 1 overlapping',
      })
      .waitFor();
    await page.getByRole('row', { name: /2020-01-01 00:00:00 – 2020-01-01 01:00:00 2 / }).waitFor();
    assert.equal(await page.locator('.file-strip rect').count(), 1);
  } finally {
    await browser.close();
    await server.close();
  }
});
