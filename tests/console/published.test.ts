// Source: docs/OPEN-TABLES.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

it('shows how other engines read a published table', { skip: SKIP }, async () => {
  await using server = await ServerInProcess.start({
    flags: ['--services', 'tsdb', '--without-auth', '--open-tables-databases', 'home'],
  });
  await server.http.send('/api/v3/write_lp?db=home', { body: 'room,host=a temp=21.5,n=1u' });
  await server.http.send('/api/v3/write_lp?db=other', { body: 'room temp=1' });
  const browser = await TestBrowser.start();
  try {
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/console/data/home/room`);
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page
      .getByText(/version 1, 1 row/)
      .first()
      .waitFor();
    await page.getByText('Columns not published: n').first().waitFor();
    await page.getByText(/SELECT count\(\*\) FROM icebergLocal\('\/.*open-tables/).waitFor();
    await page.getByText('plinth."home__jvm"."room"').waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await page.goto(`${server.url}/console/data/other/room`);
    await page.getByRole('heading', { name: 'Files' }).waitFor();
    assert.equal(await page.getByText('Open in other engines').count(), 0);
  } finally {
    await browser.close();
  }
});
