// Source: docs/CONSOLE.md; rate-limits, section 3.2: identities and their credentials.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

it('identities are made, changed, given credentials and deleted', { skip: SKIP }, async () => {
  const server = await ServerInProcess.start({ flags: ['--services', 'ratelimit'] });
  const browser = await TestBrowser.start();
  try {
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text);
    const get = async (path: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return JSON.parse((await server.http.send(`/ops/v1/${path}`, { headers })).text);
    };
    /** The limit that applies to a credential. */
    const limitOf = async (credential: string): Promise<readonly [number, unknown]> => {
      const headers = { authorization: `Bearer ${credential}` };
      const { status, text } = await server.http.send('/rate_limit', { headers });
      return [status, JSON.parse(text).resources?.core?.limit];
    };
    const page = await (await browser.context({ token })).newPage();
    await page.goto(`${server.url}/console/identities`);
    await page.getByText(/^No identities yet/).waitFor();
    const dialog = page.getByRole('dialog');
    const act = async (name: string, action: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };

    await page.getByRole('button', { name: 'Create identity' }).click();
    const create = dialog.getByRole('button', { name: 'Create', exact: true });
    await dialog.getByLabel('Id').fill('seven');
    await dialog.getByText('Enter a positive integer.').waitFor();
    await dialog.getByLabel('Id').fill('7');
    await dialog.getByLabel('Attributes').fill('{"plan": "free"');
    await dialog.getByText('Invalid attributes; enter a JSON object.').waitFor();
    assert.ok(await create.isDisabled());
    assert.deepEqual(await violationsOn(page), []);
    // Errors that only the server can find are shown in the dialog.
    await dialog.getByLabel('Attributes').fill('{"plan": "golden"}');
    await create.click();
    await dialog.getByRole('alert').getByText(/plan/).first().waitFor();
    await dialog.getByLabel('Attributes').fill('{"plan": "free", "login": "ann"}');
    await create.click();
    await page.getByRole('row', { name: /user:7 .*user .*login=ann/ }).waitFor();

    await act('user:7', 'Edit …');
    await dialog
      .getByLabel('Attributes')
      .fill('{"overrides": {"core": {"limit": 123, "window": 3600}}}');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('row', { name: /user:7 .*"limit":123/ }).waitFor();
    const { login, plan, overrides } = await get('identities/user:7');
    assert.deepEqual([login, plan], [undefined, undefined]);
    assert.deepEqual(overrides, { core: { limit: 123, window: 3600 } });

    await act('user:7', 'Create credential …');
    assert.deepEqual(await violationsOn(page), []);
    await dialog.getByLabel('Expires after').fill('1h');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    const credential = (await dialog.locator('.copy-box pre').textContent()) ?? '';
    const [, id = ''] = /has the id (\d+)/.exec((await dialog.textContent()) ?? '') ?? [];
    assert.deepEqual(await limitOf(credential), [200, 123]);
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    assert.ok(!(await page.content()).includes(credential), 'it is gone from the page');

    await page.getByRole('button', { name: 'Revoke credential' }).click();
    await dialog.getByLabel('Credential id').fill(id);
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await limitOf(credential))[0], 401);

    // An OAuth app is created with a secret.
    await page.getByRole('button', { name: 'Create identity' }).click();
    await dialog.getByLabel('Kind').selectOption('oauth_app');
    await create.click();
    await dialog.getByRole('heading', { name: /^Client secret for oauth-app:/ }).waitFor();
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('row', { name: /oauth app/ }).waitFor();

    await act('user:7', 'Delete …');
    await dialog.getByRole('textbox').fill('user:7');
    await dialog.getByRole('button', { name: 'Delete identity' }).click();
    await page.getByRole('row', { name: /user:7/ }).waitFor({ state: 'detached' });
    assert.deepEqual(await violationsOn(page), []);
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
