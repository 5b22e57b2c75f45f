// Source: docs/CONSOLE.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

it('who used most is shown, banned, unbanned and reset', { skip: SKIP }, async () => {
  const server = await ServerInProcess.start({
    flags: ['--services', 'ratelimit', '--without-auth'],
  });
  const browser = await TestBrowser.start();
  try {
    const check = async (cost: number): Promise<boolean> => {
      const body = JSON.stringify({ identity: 'user:7', resource: 'core', cost });
      const headers = { 'content-type': 'application/json' };
      const { text } = await server.http.send('/ops/v1/rate-limits/check', {
        method: 'POST',
        body,
        headers,
      });
      return (JSON.parse(text) as { allowed: boolean }).allowed;
    };
    assert.equal(await check(3), true);
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/console/limits`);
    await page.getByRole('row', { name: /user:7 3/ }).waitFor();
    await page.getByRole('button', { name: 'user:7' }).click();
    await page.getByRole('row', { name: /core 3 / }).waitFor();

    await page.getByRole('button', { name: 'Ban …' }).click();
    const dialog = page.getByRole('dialog');
    assert.equal(await dialog.getByLabel('Caller').inputValue(), 'user:7');
    await dialog.getByLabel('Duration').fill('soon');
    await dialog.getByText('Invalid duration').waitFor();
    await dialog.getByLabel('Duration').fill('1h');
    await dialog.getByRole('button', { name: 'Ban', exact: true }).click();
    await page.getByText(/^banned until/).waitFor();
    assert.equal(await check(1), false);
    await page.getByRole('button', { name: 'Unban user:7' }).click();
    await page.getByText(/^No bans\./).waitFor();
    assert.equal(await check(1), true);
    await page.getByRole('button', { name: 'Reset' }).click();
    await page.getByText('No requests in the current windows.').waitFor();
  } finally {
    await browser.close();
    await server.close();
  }
});
