// Source: docs/CONSOLE-EXPLORE.md: click filters, sorting and hiding of columns, following.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

/** Would end an unquoted string, and looks like a macro. */
const ODD = "o'x ${from} <b>";

let server: ServerInProcess;
let browser: TestBrowser;
let page: Page;

const cell = (text: string): Locator => page.getByRole('gridcell', { name: text, exact: true });
const head = (name: string): Locator => page.getByRole('columnheader', { name });
const item = (name: string | RegExp): Locator => page.getByRole('menuitem', { name });
const editor = (): Locator => page.getByRole('textbox', { name: 'Query' });
/** The text of the editor with its lines joined. */
const typed = async (): Promise<string> =>
  (await editor().locator('.cm-line').allTextContents()).join('\n');
const becomes = async (text: string): Promise<void> => {
  for (let tries = 0; tries < 200; tries++) {
    if ((await typed()) === text) return;
    await page.waitForTimeout(25);
  }
  assert.equal(await typed(), text);
};
const rowCount = (count: number): Promise<void> =>
  page.locator(`[role=grid][aria-rowcount="${count + 1}"]`).waitFor();
const columnTexts = async (column: number): Promise<readonly string[]> =>
  await page.locator(`[role=gridcell][aria-colindex="${column}"]`).allTextContents();
const columnBecomes = async (column: number, texts: readonly string[]): Promise<void> => {
  for (let tries = 0; tries < 200; tries++) {
    if ((await columnTexts(column)).join('|') === texts.join('|')) return;
    await page.waitForTimeout(25);
  }
  assert.deepEqual(await columnTexts(column), texts);
};

async function write(lines: string): Promise<void> {
  const path = '/api/v3/write_lp?db=home&precision=second';
  assert.equal((await server.http.send(path, { body: lines })).status, 204);
}
async function open(search: Readonly<Record<string, string>>): Promise<void> {
  await page.goto(
    `${server.url}/console/explore?${new URLSearchParams({ db: 'home', ...search })}`,
  );
}

describe('a table of results', { skip: SKIP }, () => {
  before(async () => {
    server = await ServerInProcess.start({ flags: ['--without-auth', '--services', 'tsdb'] });
    const odd = ODD.replaceAll(/([ ,=])/g, '\\$1');
    await write(
      [
        'm,host=a n=9007199254740993i,v=2.5,note="x" 1600000000',
        'm,host=b n=9007199254740992i,v=10 1600000060',
        `m,host=${odd} n=1i,v=-1,note="y" 1600000120`,
        'm,host=a n=2i,note="z" 1600000180',
      ].join('\n'),
    );
    browser = await TestBrowser.start();
    const context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('shows the column types of the schema', async () => {
    await write('kinds,host=a up=true,note="y" 1600000000');
    await open({ q: 'SELECT host, note, up FROM kinds', view: 'table' });
    const kinds = { host: 'text', note: 'text', up: 'bool' };
    for (const [name, kind] of Object.entries(kinds)) {
      assert.equal(await head(name).innerText(), `${name}\n${kind}`);
    }
  });

  it('adds a condition on a cell to the query, and undoes it', async () => {
    const q = 'SELECT * FROM m WHERE v > 0 OR v IS NULL\nORDER BY time';
    await open({ q, view: 'table' });
    await rowCount(3);
    await cell('a').first().click();
    await cell('a').first().click();
    await item(/^Filter for value/).waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await item(/^Filter for value/).click();
    const withFor = "SELECT * FROM m WHERE (v > 0 OR v IS NULL) AND host = 'a'\nORDER BY time";
    await becomes(withFor);
    await rowCount(2);
    await page.getByText("Added AND host = 'a'").waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await page.getByRole('button', { name: 'Undo' }).click();
    await becomes(q);
    await rowCount(3);
    // The back button and the undo history of the editor also restore the query.
    await page.goBack();
    await becomes(withFor);
    await rowCount(2);
  });

  it('filters values with special characters by keyboard', async () => {
    await open({ q: 'SELECT * FROM m ORDER BY time', view: 'table' });
    await rowCount(4);
    await page.getByRole('grid').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'Enter'])
      await page.keyboard.press(key);
    await item(/^Filter out value/).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await becomes(
      `SELECT * FROM m WHERE (host IS DISTINCT FROM '${ODD.replace("'", "''")}') ORDER BY time`,
    );
    await rowCount(3);
    await page.getByRole('grid').waitFor();
    // A missing value is filtered as NULL, and is kept when another value is filtered out.
    await open({ q: 'SELECT * FROM m', view: 'table' });
    await rowCount(4);
    await cell('x').click();
    await page.getByRole('grid').press('Enter');
    await item(/^Filter out value/).click();
    await rowCount(3);
    await cell('null').first().click();
    await page.getByRole('grid').press('Enter');
    await item(/^Filter for value/).click();
    await rowCount(1);
    assert.match(await typed(), /AND note IS NULL$/);
  });

  it('filters for a series from the legend, in both languages', async () => {
    for (const [lang, q, added] of [
      ['sql', 'SELECT time, host, n FROM m', "SELECT time, host, n FROM m WHERE host = 'a'"],
      [
        'influxql',
        'SELECT mean(n) FROM m WHERE time >= ${from} AND time < ${to} GROUP BY time(1h), host',
        "SELECT mean(n) FROM m WHERE time >= ${from} AND time < ${to} AND host = 'a' GROUP BY time(1h), host",
      ],
    ] as const) {
      await open({ lang, q, view: 'line', from: '2020-09-13', to: '2020-09-14' });
      await page.getByRole('img', { name: /3 series/ }).waitFor();
      await page.getByRole('button', { name: /^Filter for .*host=a$/ }).click();
      await becomes(added);
      await page.getByRole('img', { name: /1 series/ }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('img', { name: /3 series/ }).waitFor();
    }
  });

  it('copies the condition when the query cannot be changed safely', async () => {
    const q = 'SELECT host, count(*) AS c FROM m GROUP BY host UNION ALL SELECT host, 0 FROM m';
    await open({ q, view: 'table' });
    await rowCount(7);
    await cell('b').first().click();
    await page.getByRole('grid').press('Enter');
    await item(/Filter for value: copy condition/).click();
    await page.getByText(/Condition copied/).waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), "host = 'b'");
    assert.equal(await typed(), q);
  });

  it('sorts by a column exactly, and keeps the order in the address', async () => {
    await open({ q: 'SELECT host, n, v FROM m ORDER BY time', view: 'table' });
    await rowCount(4);
    await head('n').click();
    await item('Sort ascending').click();
    await columnBecomes(2, ['1', '2', '9007199254740992', '9007199254740993']);
    await page.waitForURL(/sort=n/);
    assert.equal(await head('n').getAttribute('aria-sort'), 'ascending');
    assert.deepEqual(await violationsOn(page), []);
    // With the keyboard, the header is the row above the first row.
    await page.getByRole('grid').focus();
    await page.keyboard.press('Home');
    for (const key of ['ArrowUp', 'ArrowRight', 'ArrowRight', 'Enter'])
      await page.keyboard.press(key);
    await item('Sort descending').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await columnBecomes(3, ['10', '2.5', '-1', 'null']);
    await page.reload();
    await columnBecomes(3, ['10', '2.5', '-1', 'null']);
    await page.getByRole('button', { name: 'Stop sorting by v' }).click();
    await columnBecomes(3, ['2.5', '10', '-1', 'null']);
  });

  it('hides and shows columns, and lists the hidden ones', async () => {
    await open({ q: 'SELECT host, n, v FROM m ORDER BY time', view: 'table' });
    await rowCount(4);
    for (const name of ['host', 'v']) {
      await head(name).click();
      await item('Hide column').click();
      await head(name).waitFor({ state: 'detached' });
    }
    assert.equal(await page.getByRole('grid').getAttribute('aria-colcount'), '1');
    await page.reload();
    const hidden = page.getByRole('button', { name: '2 of 3 columns hidden' });
    await hidden.click();
    assert.deepEqual(await violationsOn(page), []);
    await item('Show v').click();
    await head('v').waitFor();
    await head('n').click();
    await item('Hide column').click();
    await head('v').click();
    await item('Hide column').click();
    await page.getByText('All columns are hidden.').waitFor();
    await page.getByRole('button', { name: '3 of 3 columns hidden' }).click();
    await item('Show all columns').click();
    assert.equal(await page.getByRole('grid').getAttribute('aria-colcount'), '3');
  });

  it('follows: refreshes, shows new rows first, and pauses while the user reads', async () => {
    await write(
      Array.from({ length: 100 }, (_, index) => `tail n=${index}i ${1_600_000_000 + index}`).join(
        '\n',
      ),
    );
    await open({ q: 'SELECT * FROM tail', view: 'table' });
    await rowCount(100);
    await page.getByRole('checkbox', { name: 'follow' }).click();
    await page.getByText(/live, last update at .* UTC: 0 new rows/).waitFor();
    await cell('99').waitFor();
    await write('tail n=100i 1600000100\ntail n=101i 1600000101');
    await page.getByText(/: 2 new rows/).waitFor();
    await columnBecomes(1, (await columnTexts(1)).toSorted().toReversed());
    assert.equal(await page.locator('.grid-new').count(), 2);
    assert.deepEqual(await violationsOn(page), []);
    const asked = async (): Promise<number> => {
      const { text } = await server.http.send('/ops/v1/tsdb/queries');
      return text.split('SELECT * FROM tail').length - 1;
    };
    await page.getByRole('grid').focus();
    await page.keyboard.press('Control+End');
    await page.getByText('paused while you scroll').first().waitFor();
    const before = await asked();
    await page.waitForTimeout(5000);
    assert.equal(await asked(), before);
    await page.keyboard.press('Control+Home');
    await page.getByText(/live, last update at/).waitFor();
    await write('tail n=102i 1600000102');
    await cell('102').waitFor();
    await page.getByRole('checkbox', { name: 'follow' }).click();
    const after = await asked();
    await page.waitForTimeout(5000);
    assert.ok((await asked()) <= after + 1);
  });

  it('follows by polling, and says why, when the server rejects the live query', async () => {
    await write('polled n=1i 1600000000');
    let requestCount = 0;
    await page.route('**/api/v3/subscribe?*', (route) => {
      requestCount++;
      return route.fulfill({ status: 400, json: { error: 'not like this', data: {} } });
    });
    await open({ q: 'SELECT * FROM polled', view: 'table' });
    await rowCount(1);
    await page.getByRole('checkbox', { name: 'follow' }).click();
    await page
      .getByText(/refreshed every 2 s, because the live query was rejected \(not like this\)/)
      .waitFor();
    await write('polled n=2i 1600000001');
    await cell('2').waitFor();
    await write('polled n=3i 1600000002');
    await cell('3').waitFor();
    assert.equal(requestCount, 1);
    await page.getByRole('checkbox', { name: 'follow' }).click();
    await page.unroute('**/api/v3/subscribe?*');
  });

  it('causes no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});
