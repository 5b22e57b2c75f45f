// Source: docs/CONSOLE.md; docs/INFLUXDB-1-USERS.md, "Manage users".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

/** A name and a password with characters that could end a quoted name or string. */
const NAME = 'o"b \\<b>';
const PASSWORD = 'it\'s \\ "long" enough; DROP USER x';

it('creates InfluxDB 1.x users, changes their privileges and passwords, and deletes them', {
  skip: SKIP,
}, async () => {
  const server = await ServerInProcess.start({ flags: ['--services', 'tsdb'] });
  const browser = await TestBrowser.start();
  try {
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text);
    for (const db of ['home', 'garden'])
      await server.http.send(`/write?db=${db}`, {
        headers: { authorization: `Bearer ${token}` },
        body: 'm v=1',
      });
    const statusOf = async (name: string, password: string, db = 'home'): Promise<number> => {
      const basic = Buffer.from(`${name}:${password}`).toString('base64');
      const headers = { authorization: `Basic ${basic}` };
      const q = encodeURIComponent('SELECT v FROM m');
      return (await server.http.send(`/query?db=${db}&q=${q}`, { headers })).status;
    };
    const page = await (await browser.context({ token })).newPage();
    await page.goto(`${server.url}/console/users`);
    await page.getByText(/^No user/).waitFor();
    const dialog = page.getByRole('dialog');
    const act = async (name: string, action: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };

    // A generated password is shown once.
    await page.getByRole('button', { name: 'Create user' }).click();
    await dialog.getByLabel('Name').fill('ann');
    assert.deepEqual(await violationsOn(page), []);
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    const own = (await dialog.locator('.copy-box pre').textContent()) ?? '';
    assert.match(own, /^[1-9A-Za-z]{24}$/);
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('row', { name: /ann no access/ }).waitFor();
    assert.equal(await statusOf('ann', own), 403);

    await act('ann', 'Grant …');
    await dialog.getByLabel('Database').selectOption('home');
    assert.deepEqual(await violationsOn(page), []);
    await dialog.getByRole('button', { name: 'Grant', exact: true }).click();
    await page.getByRole('row', { name: /ann home: read/ }).waitFor();
    assert.equal(await statusOf('ann', own), 200);
    assert.equal(await statusOf('ann', own, 'garden'), 403);
    await act('ann', 'Grant admin access');
    await page.getByRole('row', { name: /ann full access \(admin\)/ }).waitFor();
    assert.equal(await statusOf('ann', own, 'garden'), 200);
    await act('ann', 'Remove admin access');
    await page.getByRole('row', { name: /ann (home: read|no access)/ }).waitFor();
    assert.equal(await statusOf('ann', own, 'garden'), 403);

    // A typed password is used exactly.
    await page.getByRole('button', { name: 'Create user' }).click();
    await dialog.getByLabel('Name').fill(NAME);
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByLabel(/^Admin/).check();
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('row', { name: `${NAME} full access (admin)` }).waitFor();
    assert.equal(await statusOf(NAME, PASSWORD), 200);
    await act(NAME, 'Change password …');
    await dialog.getByLabel('Password').fill('another');
    await dialog.getByRole('button', { name: 'Set password' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await statusOf(NAME, 'another'), 200);
    assert.equal(await statusOf(NAME, PASSWORD), 401);

    // The server's error is shown in the dialog, without the password.
    await page.getByRole('button', { name: 'Create user' }).click();
    await dialog.getByLabel('Name').fill('ann');
    await dialog.getByLabel('Password').fill('a-secret-of-ann');
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.getByRole('alert').getByText('user already exists').waitFor();
    assert.ok(!(await dialog.textContent())?.includes('a-secret-of-ann'));
    assert.equal(await dialog.getByRole('button', { name: 'Copy as curl' }).count(), 0);
    await page.keyboard.press('Escape');

    await act(NAME, 'Delete …');
    await dialog.getByRole('textbox').fill(NAME);
    await dialog.getByRole('button', { name: 'Delete user' }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await statusOf(NAME, 'another'), 401);
    assert.deepEqual(await violationsOn(page), []);
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
