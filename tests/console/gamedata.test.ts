// Source: docs/CONSOLE.md, "Edit game data"; spec/gamedata.md, section 6.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess, WITH_SAMPLE_DATA } from '../harness/index.js';
import { clicksOn, SKIP, TestBrowser, violationsOn } from './browser.js';

const PICTURES = process.env['PLINTH_TEST_PICTURES'];
const TOKEN = 'the-editor-of-all';
const tokenOf = (name: string, scopes: string): string =>
  `${name}:${createHash('sha256').update(`token-of-${name}`).digest('hex')}:${scopes}`;

let server: ServerInProcess;
let browser: TestBrowser;
before(async () => {
  if (SKIP) return;
  server = await ServerInProcess.start({
    flags: ['--services', 'gamedata,ratelimit'],
    env: {
      ...WITH_SAMPLE_DATA,
      PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN,
      PLINTH_GAMEDATA_TOKENS: [tokenOf('Ann', 'read+write+publish'), tokenOf('Bob', 'read')].join(
        ',',
      ),
    },
  });
  await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
  browser = await TestBrowser.start();
});
after(async () => {
  if (SKIP) return;
  await browser.close();
  await server.close();
});

const edit = async (method: string, path: string, body?: object) => {
  const { status, text } = await server.http.send(`/api/editor/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  assert.equal(status, 200, text);
  return JSON.parse(text);
};
const published = async (path: string): Promise<Record<string, unknown>> =>
  JSON.parse((await server.http.send(`/api/${path}`)).text);

async function signIn(token: string): Promise<Page> {
  const page = await (await browser.context()).newPage();
  await page.goto(`${server.url}/console/`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  return page;
}

it('changes and publishes a record in four clicks, and restores the version before', {
  skip: SKIP,
}, async () => {
  const [first] = (await edit('GET', 'items?limit=1')).data;
  const page = await signIn(TOKEN);
  await page.getByRole('heading', { name: 'Game data' }).waitFor();
  await page.getByRole('row', { name: /^items [\d,]+/ }).waitFor();
  assert.deepEqual(await violationsOn(page), []);

  await page.getByLabel('Find record').fill(first.name);
  // A row opens wherever it is clicked.
  await page.getByRole('row').getByText(first.id).first().click();
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Renamed');
  await page.getByText(`published: ${first.name}`).waitFor();
  await page.getByLabel('Handbook: price').fill('many');
  await page.getByText('Invalid value; enter an integer.').waitFor();
  await page.getByLabel('Handbook: price').fill('4711');
  assert.deepEqual(await violationsOn(page), []);
  await page.getByRole('button', { name: 'Publish …' }).click();
  const dialog = page.getByRole('dialog', { name: 'Publish a version' });
  await dialog.getByText('1 changed record: items 1').waitFor();
  assert.deepEqual(await violationsOn(page), []);
  // By keyboard, because the clicks are counted.
  await dialog.locator('summary', { hasText: `items ${first.id}` }).press('Enter');
  await dialog.getByRole('row', { name: `name "${first.name}" "Renamed"` }).waitFor();
  assert.deepEqual(await violationsOn(page), []);
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/gamedata-publish-differences.png` });
  await dialog.getByLabel('Message').fill('a new name');
  await dialog.getByRole('button', { name: 'Publish', exact: true }).click();
  // The first click signed in.
  assert.equal(await clicksOn(page), 4);
  await page.getByText('Version 2 published: 1 record changed').waitFor();
  const item = await published(`items/${first.id}`);
  assert.equal(item['name'], 'Renamed');
  assert.equal((item['handbook'] as Record<string, unknown>)['price'], 4711);

  await page.getByRole('link', { name: 'History' }).click();
  await page.getByRole('row', { name: /update replace \/.* version 2/ }).waitFor();
  await page.getByRole('link', { name: 'Game data' }).first().click();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.getByRole('row', { name: /^2 current .* a new name/ }).waitFor();
  assert.deepEqual(await violationsOn(page), []);
  await page.getByRole('button', { name: 'Restore version 1' }).click();
  await page.getByText('1 record changed since version 1').waitFor();
  await page.locator('summary', { hasText: `items ${first.id}` }).click();
  await page.getByRole('row', { name: `name "Renamed" "${first.name}"` }).waitFor();
  assert.deepEqual(await violationsOn(page), []);
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/gamedata-restore-differences.png` });
  await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
  await page.getByText('Version 1 restored as version 3').waitFor();
  assert.equal((await published(`items/${first.id}`))['name'], first.name);
  await page.context().close();
});

it('finds, changes and publishes a record, and restores the version before, by keyboard', {
  skip: SKIP,
}, async () => {
  const [first] = (await edit('GET', 'items?limit=1')).data;
  const page = await (await browser.context({ token: TOKEN })).newPage();
  const focused = (): Promise<string> =>
    page.evaluate(`(({ ariaLabel, labels, textContent }) =>
      ariaLabel ?? labels?.[0]?.textContent ?? textContent)(document.activeElement)`);
  const tabTo = async (name: { test(text: string): boolean }): Promise<void> => {
    for (let presses = 0; presses < 400; presses++) {
      if (name.test(await focused())) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`nothing named ${name} has the focus`);
  };
  await page.goto(`${server.url}/console/gamedata`);
  await page.getByRole('row', { name: /^items [\d,]+/ }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type(first.name);
  const found = page.getByRole('row').filter({ hasText: first.id });
  await found.waitFor();
  await tabTo({ test: (name: string) => name === first.name });
  await page.keyboard.press('Enter');
  await page.getByLabel('Name', { exact: true }).waitFor();
  await tabTo(/^Name$/);
  await page.keyboard.press('Control+a');
  await page.keyboard.type('By keyboard');
  await page.keyboard.press('Shift+Tab');
  for (let presses = 0; presses < 10 && !/^Publish …$/.test(await focused()); presses++)
    await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Publish a version' });
  await dialog.getByText('1 changed record: items 1').waitFor();
  await tabTo(/^Publish$/);
  await page.keyboard.press('Enter');
  await page.getByText(/^Version \d+ published: 1 record changed/).waitFor();
  assert.equal((await published(`items/${first.id}`))['name'], 'By keyboard');
  await page.goto(`${server.url}/console/gamedata/versions`);
  await page
    .getByRole('button', { name: /^Restore version/ })
    .first()
    .waitFor();
  await tabTo(/^Restore version/);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await tabTo(/^Restore$/);
  await page.keyboard.press('Enter');
  await page.getByText(/^Version \d+ restored as version \d+/).waitFor();
  assert.equal((await published(`items/${first.id}`))['name'], first.name);
  assert.equal(await clicksOn(page), 0);
  await page.context().close();
});

it('creates, deletes, undoes and discards records, with errors at their fields', {
  skip: SKIP,
}, async () => {
  const page = await signIn(TOKEN);
  await page.getByRole('link', { name: 'items', exact: true }).click();
  await page.getByRole('link', { name: 'Create record' }).click();
  await page.getByLabel('Id', { exact: true }).fill('not good!');
  await page.getByLabel('Name', { exact: true }).fill('Thing');
  await page.getByRole('button', { name: 'Save to draft' }).click();
  await page.locator('.field-error').first().waitFor();
  assert.equal(await page.getByLabel('Id', { exact: true }).getAttribute('aria-invalid'), 'true');
  await page.getByLabel('Id', { exact: true }).fill('thing');
  await page.getByRole('button', { name: 'Save to draft' }).click();
  await page.getByRole('heading', { name: 'Thing' }).waitFor();
  await page.getByRole('link', { name: 'JSON' }).click();
  const json = page.getByLabel('Record (JSON)');
  await json.fill((await json.inputValue()).replace('"Thing"', '"Thing 2"'));
  await page.getByText('● unsaved').waitFor();
  // The change survives a reload.
  await page.reload();
  await page.getByText('● unsaved').waitFor();
  assert.match(await json.inputValue(), /Thing 2/);
  await page.getByRole('button', { name: 'Save to draft' }).click();
  await page.getByRole('heading', { name: 'Thing 2' }).waitFor();

  await page.getByRole('link', { name: 'items', exact: true }).click();
  await page.getByLabel('Find record').fill('thing');
  await page.getByRole('row', { name: 'Thing 2 thing ● changed' }).waitFor();
  assert.deepEqual(await violationsOn(page), []);
  await page.getByRole('link', { name: 'Game data' }).first().click();
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.getByRole('row', { name: /items thing create/ }).waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Change to items/thing undone').waitFor();
  assert.equal((await edit('GET', 'items/thing')).name, 'Thing');
  await page.getByRole('button', { name: 'Redo' }).click();
  await page.getByText('Change to items/thing redone').waitFor();
  await page.getByRole('button', { name: 'Validate' }).click();
  await page.getByText('The draft is valid.').waitFor();
  assert.deepEqual(await violationsOn(page), []);

  await page.goto(`${server.url}/console/gamedata/items/thing`);
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete record' }).click();
  await page.getByText('Record deleted from the draft').waitFor();
  const [used] = (await edit('GET', 'quests?limit=1')).data;
  await page.goto(`${server.url}/console/gamedata/traders/${used.giverId}`);
  await page.getByRole('button', { name: 'Delete …' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete record' }).click();
  await page.getByRole('dialog').locator('.fault-list li').first().waitFor();
  await page.keyboard.press('Escape');

  await page.goto(`${server.url}/console/gamedata/changes`);
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByRole('menuitem', { name: 'All collections' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard', exact: true }).click();
  await page.getByText('No unpublished changes.').first().waitFor();
  assert.deepEqual(
    (await edit('GET', 'types')).types.filter(({ changed }: { changed: number }) => changed > 0),
    [],
  );
  await page.context().close();
});

it('merges with a newer change of another editor', { skip: SKIP }, async () => {
  const [, second] = (await edit('GET', 'items?limit=2')).data;
  const page = await signIn(TOKEN);
  await page.getByRole('link', { name: 'items', exact: true }).click();
  await page.getByRole('link', { name: second.name, exact: true }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  await page.getByLabel('Width').fill('9');
  const { id: _id, ...rest } = second;
  await edit('PUT', `items/${second.id}`, { ...rest, name: 'Theirs', height: 8 });
  await page.getByRole('button', { name: 'Save to draft' }).click();
  await page.getByText('Another editor changed this record').waitFor();
  assert.equal((await edit('GET', `items/${second.id}`)).name, 'Theirs', 'nothing was overwritten');
  assert.deepEqual(await violationsOn(page), []);
  const merge = page.getByRole('button', { name: 'Merge' });
  assert.ok(await merge.isDisabled());
  await page
    .getByRole('row', { name: /^name / })
    .getByRole('radio')
    .last()
    .check();
  await merge.click();
  await page.getByRole('button', { name: 'Save to draft' }).click();
  await page.getByText('Saved to the draft').waitFor();
  const { name, width, height } = await edit('GET', `items/${second.id}`);
  assert.deepEqual([name, width, height], ['Mine', 9, 8]);
  // The keys [ and ] lead to the neighbors in the list.
  await page.getByText(/^2 of /).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('h1').focus();
  await page.keyboard.press('[');
  await page.getByText(/^1 of /).waitFor();
  await page.keyboard.press(']');
  await page.getByText(/^2 of /).waitFor();
  await edit('POST', 'discard');
  await page.context().close();
});

it('shows only the editor to editor tokens, without controls for missing scopes', {
  skip: SKIP,
}, async () => {
  const page = await signIn('token-of-Bob');
  await page.getByRole('heading', { name: 'Game data' }).waitFor();
  await page.getByText('signed in as Bob').waitFor();
  assert.equal(await page.getByRole('link', { name: 'Rate limits' }).count(), 0);
  const publish = page.getByRole('button', { name: 'Publish …' });
  assert.ok(await publish.isDisabled());
  assert.equal(await publish.getAttribute('title'), 'Your token does not have the scope publish');
  await page.goto(`${server.url}/console/limits`);
  await page.getByRole('heading', { name: 'Game data' }).waitFor();
  // Another tab of the browser has the same role.
  const other = await page.context().newPage();
  await other.goto(`${server.url}/console/`);
  await other.getByText('signed in as Bob').waitFor();
  await page.goto(`${server.url}/console/gamedata/versions`);
  await page
    .getByRole('button', { name: /^Restore version/ })
    .first()
    .waitFor();
  assert.ok(
    await page
      .getByRole('button', { name: /^Restore version/ })
      .first()
      .isDisabled(),
  );
  await page.goto(`${server.url}/console/gamedata/items`);
  const create = page.getByRole('link', { name: 'Create record' });
  await page.getByRole('row').nth(1).waitFor();
  assert.equal(await create.getAttribute('title'), 'Your token does not have the scope write');
  await create.click({ force: true });
  await create.focus().catch(() => undefined);
  await page.keyboard.press('Enter');
  await page.waitForTimeout(150);
  assert.equal(new URL(page.url()).searchParams.get('create'), null);
  await page.context().close();

  const wrong = await signIn('nothing');
  await wrong.getByText('Invalid token.').waitFor();
  await wrong.context().close();
});

it('imports a file after a dry run, and exports the data', { skip: SKIP }, async () => {
  const page = await signIn(TOKEN);
  await page.getByRole('link', { name: 'Import and export' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export published data' }).click();
  const data = JSON.parse(await streamText((await download).createReadStream()));
  assert.equal(data.format, 'plinth-gamedata/1');
  data.kinds.items[0].name = 'Imported';
  await page.getByLabel('File (JSON)').setInputFiles({
    ...{ name: 'world.json', mimeType: 'application/json' },
    buffer: Buffer.from(JSON.stringify(data)),
  });
  const start = page.getByRole('button', { name: 'Import', exact: true });
  assert.ok(await start.isDisabled());
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByRole('row', { name: /^items/ }).waitFor();
  assert.deepEqual(await violationsOn(page), []);
  const changed = async (): Promise<number> =>
    (await edit('GET', 'types')).types.find(({ key }: { key: string }) => key === 'items').changed;
  assert.equal(await changed(), 0);
  await start.click();
  await page.getByText('world.json imported to the draft').waitFor();
  assert.equal(await changed(), 1);
  await edit('POST', 'discard');
  await page.context().close();
  assert.deepEqual(browser.complaints, []);
});

it('requires a token for the editor on a server without authentication', {
  skip: SKIP,
}, async () => {
  const open = await ServerInProcess.start({
    flags: ['--services', 'gamedata', '--without-auth'],
    env: { ...WITH_SAMPLE_DATA, PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
  });
  try {
    const page = await (await browser.context({ width: 360, height: 740 })).newPage();
    await page.goto(`${open.url}/editor`);
    await page.waitForURL(/\/console\/gamedata$/);
    await page.getByLabel('Editor token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('row', { name: /items/ }).waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await page.context().close();
  } finally {
    await open.close();
  }
});

async function streamText(opening: Promise<NodeJS.ReadableStream>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of await opening) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}
