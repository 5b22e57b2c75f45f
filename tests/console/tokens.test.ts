// Source: docs/CONSOLE.md; docs/TOKENS.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser } from './browser.js';

it('creates a token with permissions, and lists the permissions of each token', {
  skip: SKIP,
}, async () => {
  const server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
  const browser = await TestBrowser.start();
  try {
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text);
    const page = await (await browser.context({ token })).newPage();
    await page.goto(`${server.url}/console/tokens`);
    await page.getByRole('cell', { name: 'full access (admin)' }).waitFor();
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByLabel('Name').fill('grafana');
    const create = page.getByRole('button', { name: 'Create', exact: true });
    // An empty permission list does not make an admin token.
    assert.ok(await create.isDisabled());
    await page.getByLabel('Permissions').fill('db:home');
    assert.ok(await create.isDisabled());
    await page.getByText('Invalid permission; use db:NAME,NAME:read,write').waitFor();
    await page.getByLabel('Permissions').fill('db:home,garden:read');
    await create.click();
    const text = (await page.getByRole('dialog').locator('.copy-box pre').textContent()) ?? '';
    const statusOf = async (db: string) => {
      const headers = { authorization: `Bearer ${text}` };
      const body = 'm v=1';
      return (await server.http.send(`/write?db=${db}`, { headers, body })).status;
    };
    assert.equal(await statusOf('home'), 403);
    const asked = await server.http.send('/query?db=home&q=SHOW+DATABASES', {
      headers: { authorization: `Bearer ${text}` },
    });
    assert.equal(asked.status, 200);
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('cell', { name: 'db:home,garden:read' }).waitFor();

    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByLabel('Name').fill('deputy');
    await page.getByLabel('Full access (admin)').check();
    assert.equal(await page.getByLabel('Permissions').count(), 0);
    await create.click();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('row', { name: /deputy full access/ }).waitFor();
  } finally {
    await browser.close();
    await server.close();
  }
});
