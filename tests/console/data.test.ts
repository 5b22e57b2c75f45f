// Source: docs/CONSOLE.md: databases are created, changed (retention period), deleted by name and restored.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

it('creates a database, changes its retention, deletes it by name and restores it', {
  skip: SKIP,
}, async () => {
  const server = await ServerInProcess.start({ flags: ['--services', 'tsdb', '--without-auth'] });
  const browser = await TestBrowser.start();
  try {
    const page = await (await browser.context()).newPage();
    const dialog = page.getByRole('dialog');
    const names = async (): Promise<readonly string[]> => {
      const { text } = await server.http.send('/api/v3/configure/database?format=json');
      return (JSON.parse(text) as Record<string, string>[]).map(
        (row) => Object.values(row)[0] ?? '',
      );
    };
    const act = async (action: string): Promise<void> => {
      await page.getByRole('button', { name: 'Actions for garden' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await page.goto(`${server.url}/console/data`);
    await page.getByRole('button', { name: 'Create database' }).click();
    const create = dialog.getByRole('button', { name: 'Create', exact: true });
    assert.ok(await create.isDisabled(), 'it has no name yet');
    await dialog.getByLabel('Name').fill('gar den');
    await create.click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Name').fill('garden');
    await dialog.getByLabel('Retention').fill('soon');
    await dialog.getByText('Invalid duration').waitFor();
    assert.ok(await create.isDisabled());
    await dialog.getByLabel('Retention').fill('30d');
    await dialog.getByText('Rows older than 30 d are hidden').waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /garden .*30 d/ }).waitFor();

    await act('Change');
    await dialog.getByLabel('Retention').fill('');
    await dialog.getByLabel('New integer fields').selectOption('Float columns');
    await dialog.getByText('Integers above 2^53 lose digits').waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await dialog.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByRole('row', { name: /garden .*Forever float/ }).waitFor();
    await server.http.send('/api/v3/write_lp?db=garden', { body: 'm v=1 1\nm v="wet" 2' });
    await page.getByRole('link', { name: 'garden' }).click();
    await page.getByRole('row', { name: /type_conflict .*m v="wet" 2/ }).waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await page.goBack();

    await act('Delete …');
    const remove = dialog.getByRole('button', { name: 'Delete database' });
    assert.ok(await remove.isDisabled());
    await dialog.getByRole('textbox').fill('garde');
    assert.ok(await remove.isDisabled(), 'a part of the name is not the name');
    await page.keyboard.press('Enter');
    assert.ok((await names()).includes('garden'));
    assert.deepEqual(await violationsOn(page), []);
    await dialog.getByRole('textbox').fill('garden');
    await remove.click();
    await page.getByRole('row', { name: /garden/ }).waitFor({ state: 'detached' });
    assert.ok(!(await names()).includes('garden'));

    // The choice is kept in the address, so the checkbox is set only after the navigation.
    await page.getByRole('checkbox', { name: 'Show deleted' }).click();
    await page
      .getByText(/^deleted/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: /^Actions for garden/ }).click();
    await page.getByRole('menuitem', { name: 'Restore' }).click();
    await page.getByRole('link', { name: 'garden' }).waitFor();
    const q = new URLSearchParams({ db: 'garden', q: 'SELECT v FROM m', format: 'json_rows' });
    const { text } = await server.http.send(`/api/v3/query_sql?${q}`);
    assert.deepEqual(JSON.parse(text), [{ v: 1 }]);
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
