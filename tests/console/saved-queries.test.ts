// Source: docs/CONSOLE.md: several users edit saved queries, and none overwrites another's change unknowingly.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

async function type(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Query' }).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
  await page.waitForURL((url) => url.searchParams.get('q') === text);
  await page.keyboard.press('Escape');
}

it('updates a saved query, and reports concurrent changes', {
  skip: SKIP,
}, async () => {
  const server = await ServerInProcess.start({ flags: ['--services', 'tsdb', '--without-auth'] });
  const browser = await TestBrowser.start();
  try {
    await server.http.send('/api/v3/write_lp?db=home', { body: 'm v=1 1' });
    const made = await server.http.send('/ops/v1/tsdb/saved-queries', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ name: 'All', db: 'home', lang: 'sql', text: 'SELECT 1 AS n' },
        ...{ description: 'for the wall', folder: 'walls', tags: ['wall'] },
      }),
    });
    const { id } = JSON.parse(made.text);
    const stored = async () =>
      JSON.parse((await server.http.send(`/ops/v1/tsdb/saved-queries/${id}`)).text);
    const openIt = async (): Promise<Page> => {
      const context = await browser.context();
      const page = await context.newPage();
      await page.goto(`${server.url}/console/explore/${id}`);
      await page.waitForURL(/saved=/);
      await page.locator('.cm-content').waitFor();
      return page;
    };
    const [ann, bob] = [await openIt(), await openIt()];

    await type(ann, 'SELECT 2 AS n');
    await ann.keyboard.press('Control+S');
    const dialog = ann.getByRole('dialog', { name: 'Save query' });
    assert.ok(await dialog.getByLabel('Update the opened query').isChecked());
    assert.deepEqual(await violationsOn(ann), []);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await ann.getByText(/Saved\. Link copied/).waitFor();
    const first = await stored();
    assert.deepEqual([first.text, first.rev], ['SELECT 2 AS n', 2]);
    assert.deepEqual(
      [first.description, first.folder, first.tags],
      ['for the wall', 'walls', ['wall']],
    );

    // Ann continues on her page.
    await type(ann, 'SELECT 3 AS n');
    await ann.keyboard.press('Control+S');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    assert.equal((await stored()).rev, 3);

    // Bob has not seen her changes.
    await type(bob, 'SELECT 4 AS n');
    await bob.keyboard.press('Control+S');
    const his = bob.getByRole('dialog', { name: 'Save query' });
    await his.getByRole('button', { name: 'Save', exact: true }).click();
    await his.getByText(/Another user changed this query/).waitFor();
    assert.equal((await stored()).text, 'SELECT 3 AS n');
    assert.deepEqual(await violationsOn(bob), []);
    await his.getByLabel('Save as a new query').check();
    await his.getByLabel('Name').fill('Mine');
    await his.getByRole('button', { name: 'Save', exact: true }).click();
    await his.waitFor({ state: 'detached' });
    const { saved_queries } = JSON.parse(
      (await server.http.send('/ops/v1/tsdb/saved-queries')).text,
    );
    assert.deepEqual(
      saved_queries.map(({ name, text }: Record<string, string>) => [name, text]),
      [
        ['Mine', 'SELECT 4 AS n'],
        ['All', 'SELECT 3 AS n'],
      ],
    );

    // After seeing the change, Bob may overwrite it.
    await bob.goto(`${server.url}/console/explore/${id}`);
    await bob.waitForURL(/saved=.*rev=3|rev=3.*saved=/);
    await bob.locator('.cm-content').waitFor();
    await type(ann, 'SELECT 5 AS n');
    await ann.keyboard.press('Control+S');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await type(bob, 'SELECT 6 AS n');
    await bob.keyboard.press('Control+S');
    await his.getByRole('button', { name: 'Save', exact: true }).click();
    await his.getByRole('button', { name: 'Overwrite' }).click();
    await his.waitFor({ state: 'detached' });
    assert.deepEqual([(await stored()).text, (await stored()).rev], ['SELECT 6 AS n', 5]);
    assert.deepEqual(browser.complaints, []);
  } finally {
    await browser.close();
    await server.close();
  }
});
