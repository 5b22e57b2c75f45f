// Source: docs/CONSOLE.md; tsdb-http, "First token".
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

const OPEN = ['--services', 'tsdb', '--http-bind', '0.0.0.0:0'];

describe('the first page of a server that other machines reach', { skip: SKIP }, () => {
  let browser: TestBrowser;
  before(async () => {
    browser = await TestBrowser.start();
  });
  after(() => browser?.close());

  const open = async (server: ServerInProcess): Promise<Page> => {
    const page = await (await browser.context()).newPage();
    await page.goto(`${server.url}/`);
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    return page;
  };

  it('creates the token with the claim code only', async () => {
    await using server = await ServerInProcess.start({ flags: OPEN });
    const code = (await readFile(join(server.dataDir, 'claim-code'), 'utf8')).trim();
    const page = await open(server);
    const button = page.getByRole('button', { name: 'Create admin token' });
    const field = page.getByLabel('Claim code');
    assert.ok(await button.isDisabled(), 'the code comes first');
    assert.deepEqual(await violationsOn(page), []);
    await field.fill('aaaa-bbbb');
    await button.click();
    await page
      .getByRole('alert')
      .getByText(/wrong claim code/)
      .waitFor();
    assert.equal(await field.inputValue(), 'aaaa-bbbb', 'what was typed stays');
    await field.fill(` ${code.toUpperCase()} `);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your admin token' }).waitFor();
    assert.match((await page.locator('.copy-box pre').textContent()) ?? '', /^apiv3_[\w-]{86}$/);
    await page.context().close();
  });

  it('warns when anyone may create the token, and requires no code', async () => {
    const flags = [...OPEN, '--first-token', 'anyone'];
    await using server = await ServerInProcess.start({ flags });
    const page = await open(server);
    await page.getByText(/Anyone who can reach this address can create this token/).waitFor();
    assert.equal(await page.getByLabel('Claim code').count(), 0);
    assert.deepEqual(await violationsOn(page), []);
    await page.getByRole('button', { name: 'Create admin token' }).click();
    await page.getByRole('heading', { name: 'Your admin token' }).waitFor();
    await page.context().close();
  });

  it('causes no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});
