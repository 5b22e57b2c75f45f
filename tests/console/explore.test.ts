// Source: docs/CONSOLE-EXPLORE.md. Expected numbers are computed from the rows written here.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

/** Would run as a script, or load an image, if it were inserted as markup. */
const INJECTED = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const BIG = '9223372036854775807';
const NANOS = '1700000000123456789';
const PICTURES = process.env['PLINTH_TEST_PICTURES'];

let server: ServerInProcess;
let browser: TestBrowser;
let context: BrowserContext;
let page: Page;

const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
const cell = (text: string): Locator => page.getByRole('gridcell', { name: text, exact: true });

async function write(db: string, body: string, precision = 'nanosecond'): Promise<void> {
  const path = `/api/v3/write_lp?db=${db}&precision=${precision}`;
  assert.equal((await server.http.send(path, { body })).status, 204);
}

async function open(search: Readonly<Record<string, string>>): Promise<void> {
  await page.goto(`${server.url}/console/explore?${new URLSearchParams(search)}`);
}

/** The editor, which is in a shadow root. */
const editor = (): Locator => page.getByRole('textbox', { name: 'Query' });

async function type(text: string): Promise<void> {
  await editor().click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type(text);
}

describe('Explore', { skip: SKIP }, () => {
  before(async () => {
    server = await ServerInProcess.start({ flags: ['--without-auth', '--services', 'tsdb'] });
    const nowSec = Math.floor(Date.now() / 1000);
    const minutes = Array.from({ length: 50 }, (_, index) => nowSec - 60 * index);
    const lines = minutes.flatMap((sec, index) => [
      `cpu,host=a usage=${index} ${sec}`,
      `cpu,host=b usage=${index === 25 ? 500 : 10} ${sec}`,
    ]);
    await write('metrics', lines.join('\n'), 'second');
    const tag = INJECTED.replaceAll(/([ ,=])/g, '\\$1');
    await write('metrics', `Odd,where=${tag} v=1,text="${INJECTED.replaceAll('"', '\\"')}" 1`);
    await write('metrics', `exact n=${BIG}i ${NANOS}`);
    browser = await TestBrowser.start();
    context = await browser.context();
    page = await context.newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('plots a field of the last hour, zooms and shares it in four clicks and a drag', async () => {
    let clickCount = 0;
    const click = async (target: Locator): Promise<void> => {
      clickCount += 1;
      await target.click();
    };
    await page.goto(`${server.url}/console/`);
    await click(page.getByRole('link', { name: 'Explore' }).first());
    await click(button('Plot usage of cpu'));
    await page.getByRole('img', { name: /2 series.*highest 500 for host=b/ }).waitFor();
    const plot = page.locator('.u-over').first();
    const box = await plot.boundingBox();
    assert.ok(box);
    const before = page.url();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 60, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=20/);
    await click(button('Share'));
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(link, /\/console\/explore\?.*from=20\d\d-.*&to=20\d\d-/);
    assert.ok(clickCount <= 4, `${clickCount} clicks`);
    // Another user opens it.
    const other = await browser.context();
    const theirs = await other.newPage();
    await theirs.goto(link);
    await theirs.getByRole('img', { name: /2 series/ }).waitFor();
    await other.close();
    await page.goBack();
    await page.waitForURL(before);
    await page.getByRole('img', { name: /2 series/ }).waitFor();
  });

  it('shows the statistics of each series', async () => {
    await page.getByRole('cell', { name: '990', exact: true }).waitFor();
    const row = page.getByRole('row', { name: /host=b/ });
    const texts = await row.getByRole('cell').allTextContents();
    // 49 minutes with the value 10 and one minute with 500, each in a separate bucket.
    assert.deepEqual(texts.slice(1, 6), ['10', '10', '500', '19.8', '990']);
  });

  it('draws every point, as dots or as density', async () => {
    const nowSec = Math.floor(Date.now() / 1000);
    // A single point is at the top; the others fill the lower half.
    const lines = Array.from({ length: 60_000 }, (_, index) => {
      const sec = nowSec - (index % 1800);
      return `dots v=${index === 0 ? 100 : (index * 7919) % 50} ${sec * 1e9 + index}`;
    });
    for (let from = 0; from < lines.length; from += 20_000)
      await write('metrics', lines.slice(from, from + 20_000).join('\n'));
    /** Whether each tenth of the plot, from the top, contains colored pixels. */
    const drawn = async (): Promise<string> =>
      await page.evaluate<string>(`(() => {
        const canvas = document.querySelector('.u-wrap canvas');
        const over = document.querySelector('.u-over').getBoundingClientRect();
        const box = canvas.getBoundingClientRect();
        const ratio = canvas.width / box.width;
        const [left, top, width, height] = [over.left - box.left, over.top - box.top, over.width, over.height].map((px) => Math.round(px * ratio));
        const { data } = canvas.getContext('2d').getImageData(left, top, width, height);
        const tenths = Array(10).fill(0);
        for (let at = 0; at < data.length; at += 4) {
          const [red, green, blue, alpha] = data.slice(at, at + 4);
          const isColoured = Math.max(red, green, blue) - Math.min(red, green, blue) > 40;
          if (alpha > 20 && isColoured) tenths[Math.floor(at / 4 / width / height * 10)]++;
        }
        return tenths.map((count) => (count > 0 ? 'x' : '.')).join('');
      })()`);
    const of = (where: string): Readonly<Record<string, string>> => ({
      db: 'metrics',
      q: `SELECT time, v FROM dots WHERE ${where}`,
    });
    for (const [view, where] of [
      ['scatter', 'v > 48 OR v < 10'],
      ['scatter', 'v >= 0'],
      ['heat', 'v >= 0'],
    ] as const) {
      await open({ ...of(where), view });
      await page.getByRole('img', { name: /1 series.*highest 100/ }).waitFor();
      const picture = await drawn();
      // The axis has a margin of 8 % at both ends: 100 is in the first tenth, 50 in the middle, and 0 in the second to last.
      const expected =
        view === 'scatter' && where !== 'v >= 0'
          ? /^x\.{3,4}x\.{2,3}x{1,2}\.?$/
          : /^x\.{3,4}x{4,5}\.?$/;
      assert.match(picture, expected, `${view} of ${where}`);
    }
    await page.getByText('color intensity shows the number of points').waitFor();
  });

  it('keeps nanoseconds and 64-bit integers in table and clipboard', async () => {
    await open({ db: 'metrics', q: 'SELECT * FROM exact', view: 'table' });
    await cell(BIG).click();
    await cell('2023-11-14 22:13:20.123456789').waitFor();
    await page.getByRole('grid').focus();
    const copied = async (): Promise<string> => {
      await page.keyboard.press('c');
      await page.getByText('Cell copied').first().waitFor();
      return await page.evaluate<string>('navigator.clipboard.readText()');
    };
    assert.equal(await copied(), BIG);
    await page.keyboard.press('Home');
    assert.equal(await copied(), '2023-11-14 22:13:20.123456789');
  });

  it('never interprets written data as markup', async () => {
    await open({ db: 'metrics', q: 'SELECT * FROM "Odd"', view: 'table' });
    await cell(INJECTED).first().waitFor();
    await button('Line').click();
    assert.equal(await page.locator('main img, main script').count(), 0);
    assert.equal(await page.title(), 'Explore – plinth');
  });

  it('runs the typed query by keyboard, in both languages', async () => {
    await open({ db: 'metrics' });
    await type('SELECT count(*) AS n FROM cpu');
    await page.keyboard.press('Control+Enter');
    await page.getByText('100', { exact: true }).waitFor();
    await button('InfluxQL').click();
    await type('SELECT count(usage) FROM cpu');
    await page.keyboard.press('Control+Enter');
    await page.waitForURL(/lang=influxql/);
    await button('Table').click();
    await cell('100').waitFor();
  });

  it('completes tables, columns and tag values, and quotes names', async () => {
    /** The list may be redrawn below the pointer or close while typing, so the choice is retried. */
    const choose = async (option: string | RegExp, wanted: RegExp): Promise<void> => {
      for (let tries = 0; tries < 5; tries++) {
        const there = page.getByRole('option').filter({ hasText: option }).first();
        await there.click({ timeout: 8000 }).catch(() => undefined);
        if (wanted.test((await editor().textContent()) ?? '')) return;
        await page.keyboard.press('Control+Space');
      }
      assert.fail(`${await editor().textContent()} is not ${wanted}`);
    };
    await open({ db: 'metrics', lang: 'sql' });
    await type('SELECT usage FROM c');
    await choose('cpu', /FROM cpu/);
    await page.keyboard.type(' WHERE ho');
    await choose(/^host/, /WHERE host/);
    await page.keyboard.type(" = 'a");
    await choose("'a'", /FROM cpu WHERE host = 'a'/);
    await type('SELECT v FROM Od');
    await choose('Odd', /FROM "Odd"/);
  });

  it('shows the error message of the server and marks its position', async () => {
    await open({ db: 'metrics', q: 'SELECT usage\nFROMM cpu', lang: 'influxql' });
    const said = page.getByRole('alert');
    await said.waitFor();
    const asked = await server.http.send(
      `/api/v3/query_influxql?${new URLSearchParams({ db: 'metrics', q: 'SELECT usage\nFROMM cpu' })}`,
    );
    const { error } = JSON.parse(asked.text) as { readonly error: string };
    assert.ok((await said.textContent())?.includes(error), error);
    await page.locator('.cm-lintRange-error').waitFor();
    await button('Copy as curl').click();
    const curl = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(curl, /^curl -X POST 'http:.*query_influxql'/);
    // The statistics of the previous result are replaced.
    const figures = page.locator('.run-figures');
    await figures.getByText('Failed', { exact: true }).waitFor();
    await open({ db: 'metrics', q: 'SELECT 1 AS n', view: 'table' });
    await figures.getByText(/· 1 row ·/).waitFor();
    await type('SELECT none FROM cpu');
    await page.keyboard.press('Control+Enter');
    await figures.getByText('Failed · previous result below', { exact: true }).waitFor();
  });

  it('saves a query under a short link, and restores the text of a tab after a crash', async () => {
    await open({ db: 'metrics', q: 'SELECT host FROM cpu LIMIT 3', view: 'table' });
    await cell('a').first().waitFor();
    await page.keyboard.press('Control+S');
    await page.getByLabel('Name').fill('Three hosts');
    await page.keyboard.press('Enter');
    await page.getByText(/Saved\. Link copied/).waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(link, /\/console\/explore\/[1-9A-Za-z]{8}$/);
    await page.goto(link);
    await page.waitForURL(/explore\?.*name=Three\+hosts/);
    // The tab that saved the query also shows its name.
    await page.getByRole('button', { name: 'Three hosts', exact: true }).last().waitFor();
    await type('SELECT 42 AS kept');
    await page.waitForURL(/q=SELECT\+42/);
    await page.waitForTimeout(500); // the text is stored 300 ms after the last key
    await page.close();
    page = await context.newPage();
    await page.goto(`${server.url}/console/explore`);
    await page.waitForURL(/q=SELECT\+42/);
    assert.match((await editor().textContent()) ?? '', /SELECT 42 AS kept/);
  });

  it('exports the complete result', async () => {
    await open({ db: 'metrics', q: 'SELECT host, usage FROM cpu', view: 'table' });
    await cell('a').first().waitFor();
    await button('Export').click();
    const saving = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: /Download CSV/ }).click();
    const file = await saving;
    assert.match(file.suggestedFilename(), /^metrics-cpu-20.*\.csv$/);
    const text = await readFile(await file.path(), 'utf8');
    assert.equal(text.trim().split('\n').length, 101);
  });

  it('has a field for each parameter, sends its value, and exports the same result', async () => {
    await open({
      db: 'metrics',
      q: 'SELECT host, n FROM (SELECT host, 9223372036854775807 AS n FROM cpu) WHERE host = $host AND n = $n LIMIT 2',
      view: 'table',
    });
    const host = page.getByRole('textbox', { name: '$host' });
    await host.fill("b' OR '1'='1");
    await page.getByRole('textbox', { name: '$n' }).fill('9223372036854775807');
    await page.getByRole('combobox', { name: 'Type of $n' }).selectOption('number');
    await button('Run').click();
    await page
      .getByText(/0 rows/)
      .first()
      .waitFor();
    await host.fill('b');
    await host.press('Enter');
    await cell('9223372036854775807').first().waitFor();
    assert.match(page.url(), /p\.host=b/);
    await button('Export').click();
    const saving = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: /Download CSV/ }).click();
    const text = await readFile(await (await saving).path(), 'utf8');
    assert.deepEqual(text.trim().split(/\r?\n/), ['host,n', `b,${BIG}`, `b,${BIG}`]);
  });

  it('shows the query plan as a tree, with the rows and times of its steps', async () => {
    await open({
      db: 'metrics',
      q: 'SELECT a.host, count(*) AS n FROM cpu a JOIN cpu b ON a.time = b.time WHERE a.host = $host GROUP BY a.host',
      'p.host': 'a',
      view: 'table',
    });
    await cell('a').first().waitFor();
    await button('Explain').click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('table scan').first().waitFor();
    // Each of the 50 timestamps has two hosts, so the join returns 100 rows.
    const joins = plan.locator('.plan-step', { hasText: 'hash join' });
    assert.match((await joins.allTextContents()).join('\n'), /100 rows\d+ ms/);
    // Both table scans are below it.
    const below = plan
      .locator('li', { has: page.getByText('hash join') })
      .last()
      .locator('ul')
      .first();
    assert.ok((await below.getByText('table scan').count()) >= 2);
    await button('Close plan').click();
    await plan.waitFor({ state: 'detached' });
    await type('SELECT nothing FROM cpu');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Shift+Control+Enter');
    await page
      .getByRole('alert')
      .getByText(/No field named nothing/)
      .waitFor();
  });

  it('cancels a query on the server', async () => {
    await open({ db: 'metrics' });
    await type(
      'SELECT sum(a.v * b.v * c.v) FROM generate_series(1, 100000) AS a(v), generate_series(1, 100000) AS b(v), generate_series(1, 1000) AS c(v)',
    );
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Enter');
    const running = async (): Promise<number> => {
      const response = await server.http.send('/ops/v1/tsdb/queries?running=true');
      return JSON.parse(response.text).queries.length;
    };
    const becomes = async (count: number): Promise<void> => {
      for (let attempt = 0; attempt < 200; attempt++) {
        if ((await running()) === count) return;
        await page.waitForTimeout(25);
      }
      assert.fail(`${await running()} queries run, not ${count}`);
    };
    await becomes(1);
    await button('Cancel').click();
    await button('Run').waitFor();
    await becomes(0);
  });

  it('shows the query of an external link, and runs it only on request', async () => {
    const text = 'SELECT count(*) AS asked_by_link FROM cpu';
    const search = new URLSearchParams({ db: 'metrics', q: text, refresh: '5s', view: 'table' });
    const link = `${server.url}/console/explore?${search}`;
    const asked = async (): Promise<number> => {
      const response = await server.http.send('/ops/v1/tsdb/queries');
      return response.text.split('asked_by_link').length - 1;
    };
    for (const stranger of ['http://stranger.test/', `${server.url.replace(/\d+$/, '9')}/`]) {
      const before = await asked();
      await page.route(stranger, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<a href="${link.replaceAll('&', '&amp;')}">a prize</a>`,
        }),
      );
      await page.goto(stranger);
      await page.getByRole('link', { name: 'a prize' }).click();
      await page.getByText(/came from another site/).waitFor();
      await editor().getByText('asked_by_link').first().waitFor();
      await page.waitForTimeout(6000); // longer than its refresh
      assert.equal(await asked(), before);
      // Returning to the page or reloading it, which the other site could trigger, does not run the query either.
      for (const come of [() => page.reload(), () => page.goBack().then(() => page.goForward())]) {
        await come();
        await page.getByText(/came from another site/).waitFor();
      }
      await page.getByRole('link', { name: 'Databases' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Databases' }).waitFor();
      await page.goBack();
      await page.getByText(/came from another site/).waitFor();
      // Opening Explore again, which still contains the query, does not run it either.
      await page.getByRole('link', { name: 'Databases' }).first().click();
      await page.getByRole('heading', { level: 1, name: 'Databases' }).waitFor();
      await page.getByRole('link', { name: 'Explore' }).first().click();
      await page.getByText(/came from another site/).waitFor();
      // Closing another tab, which activates this one, does not run it either.
      await page.getByLabel('New query', { exact: true }).click();
      await page.getByText('Write a query').waitFor();
      await page.locator('.tab[data-active="true"] .tab-close').click();
      await page.getByText(/came from another site/).waitFor();
      await page.waitForTimeout(6000);
      assert.equal(await asked(), before);
      await button('Run').click();
      await cell('100').waitFor();
      const afterRun = await asked();
      assert.ok(afterRun > before);
      // A query that the user has run is run again.
      await page.reload();
      await cell('100').waitFor();
      await page.goto(`${server.url}/console/`);
      await page.goBack();
      await cell('100').waitFor();
      assert.ok((await asked()) >= afterRun + 2);
    }
    // Later actions of the user run the query.
    await page.goto('http://stranger.test/');
    await page.evaluate(`document.links[0].href = ${JSON.stringify(`${server.url}/console/`)}`);
    await page.getByRole('link', { name: 'a prize' }).click();
    await page.getByRole('link', { name: 'Explore' }).first().click();
    await button('Plot usage of cpu').click();
    await page.getByRole('img', { name: /2 series/ }).waitFor();
    assert.equal(await page.getByText(/another site/).count(), 0);
  });

  it('builds a query, writes it to the editor and reads it back', async () => {
    const builder = page.getByRole('region', { name: 'Query builder' });
    const choose = async (label: string, value: string): Promise<void> => {
      await builder.getByLabel(label, { exact: true }).selectOption(value);
    };
    const text = async (wanted: RegExp): Promise<void> => {
      for (let tries = 0; tries < 200; tries++) {
        const lines = await editor().locator('.cm-line').allTextContents();
        if (wanted.test(lines.join('\n'))) return;
        await page.waitForTimeout(25);
      }
      assert.match((await editor().locator('.cm-line').allTextContents()).join('\n'), wanted);
    };
    await open({ db: 'metrics', lang: 'sql' });
    await choose('Table', 'cpu');
    await page.getByRole('img', { name: /2 series/ }).waitFor();
    await text(
      /^SELECT date_bin\(\$\{interval\}, time\) AS time, host, avg\(usage\) AS usage\nFROM cpu\n/,
    );
    await choose('Aggregate of field 1', 'max');
    await choose('Bucket width', '15 minutes');
    await text(/INTERVAL '15 minutes'.* max\(usage\) AS usage\n/);
    await builder.getByLabel('Add condition').click();
    await choose('Condition column', 'host');
    await builder.getByLabel('Condition value').fill('b');
    await page.keyboard.press('Enter');
    await text(/AND time < \$\{to\} AND host = 'b'\n/);
    await page.getByRole('img', { name: /1 series.*highest 500/ }).waitFor();
    await builder.getByLabel('Remove group host').click();
    await text(/\nGROUP BY 1\n/);
    await builder.getByLabel('Add field').click();
    await text(/max\(usage\) AS usage_max, avg\(usage\) AS usage_avg\n/);
    assert.deepEqual(await violationsOn(page), []);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/builder-light.png` });
    // The other language shows the same query.
    await button('InfluxQL').click();
    await text(/^SELECT max\(usage\) AS usage_max, mean\(usage\) AS usage_avg\nFROM cpu\n/);
    await text(/ AND host = 'b'\nGROUP BY time\(15m\) fill\(null\)$/);
    await page.getByRole('img', { name: /2 series.*highest 500/ }).waitFor();
    await page.getByRole('button', { name: 'SQL', exact: true }).click();
    await text(/INTERVAL '15 minutes'/);

    // The builder shows what is typed, as long as it could have written it.
    await type(
      "SELECT date_bin(INTERVAL '5 minutes', time) AS time, min(usage) AS usage FROM cpu WHERE time >= ${from} AND time < ${to} GROUP BY 1 ORDER BY 1",
    );
    await page.keyboard.press('Escape');
    await builder.locator('select:has(option:checked:text-is("5 minutes"))').waitFor();
    assert.equal(await builder.getByLabel('Aggregate of field 1').inputValue(), 'min');
    assert.equal(await builder.getByLabel('Condition value').count(), 0);
    await page.keyboard.press('Control+End');
    await page.keyboard.type(' LIMIT 3');
    await builder.getByText('This query can only be edited as SQL').waitFor();
    await builder.getByRole('button', { name: 'Edit as SQL' }).click();
    await builder.waitFor({ state: 'detached' });
    await page.reload();
    await editor().getByText('LIMIT').waitFor();
    assert.equal(await builder.count(), 0);
    // A query that the builder cannot show is kept: the builder opens in a new tab.
    await button('Builder').click();
    await builder.getByText('choose a table').waitFor({ state: 'attached' });
    assert.doesNotMatch((await editor().textContent()) ?? '', /LIMIT/);
  });

  it('computes each aggregate of the builder', async () => {
    const nowSec = Math.floor(Date.now() / 1000);
    // A counter that grows by 2 per second in host a, and is reset in host b.
    const lines = Array.from({ length: 30 }, (_, index) => {
      const sec = nowSec - 60 * (29 - index);
      return [
        `counter,host=a total=${120 * index}u ${sec}`,
        `counter,host=b total=${120 * (index % 15)}u ${sec}`,
      ];
    });
    await write('metrics', lines.flat().join('\n'), 'second');
    const builder = page.getByRole('region', { name: 'Query builder' });
    await open({ db: 'metrics', lang: 'sql', view: 'line' });
    await builder.getByLabel('Table', { exact: true }).selectOption('counter');
    await builder.getByLabel('Bucket width').selectOption('1 minute');
    /** Minimum, maximum and sum of a series. */
    const figures = async (host: string): Promise<string> => {
      const row = page.getByRole('row', { name: new RegExp(`host=${host}`) });
      return (await row.getByRole('cell').allTextContents()).slice(2, 4).join(' ');
    };
    const expected = [
      ['min', '0 3480', '0 1680'],
      ['max', '0 3480', '0 1680'],
      ['sum', '0 3480', '0 1680'],
      ['avg', '0 3480', '0 1680'],
      ['count', '1 1', '1 1'],
      ['last', '0 3480', '0 1680'],
      ['p95', '0 3480', '0 1680'],
    ] as const;
    // After a reset, the rate is 0 in SQL and missing in InfluxQL.
    for (const [language, rateOfB] of [
      ['SQL', '0 2'],
      ['InfluxQL', '2 2'],
    ] as const) {
      await page.getByRole('button', { name: language, exact: true }).click();
      await builder.getByRole('button', { name: `Edit as ${language}` }).waitFor();
      for (const [aggregate, ownA, ownB] of [...expected, ['rate', '2 2', rateOfB] as const]) {
        // InfluxQL counts 0 in empty buckets.
        const isEmptyCounted = aggregate === 'count' && language === 'InfluxQL';
        const [a, b] = isEmptyCounted ? ['0 1', '0 1'] : [ownA, ownB];
        await builder.getByLabel('Aggregate of field 1').selectOption(aggregate);
        for (let tries = 0; tries < 200 && (await figures('b')) !== b; tries++)
          await page.waitForTimeout(25);
        const what = `${aggregate} in ${language}`;
        assert.deepEqual([await figures('a'), await figures('b')], [a, b], what);
        assert.equal(await page.getByRole('alert').count(), 0, what);
      }
    }
  });

  it('shows units, only the tags that differ, and one tab stop for each list', async () => {
    const nowSec = Math.floor(Date.now() / 1000);
    const lines = ['a', 'b', 'c'].map(
      (host, index) =>
        `disk,host=${host},region=eu free_bytes=${1536 * 1024 * (index + 1)},latency_ms=${index} ${nowSec - 60}`,
    );
    await write('metrics', lines.join('\n'), 'second');
    const builder = page.getByRole('region', { name: 'Query builder' });
    await open({ db: 'metrics', lang: 'influxql', view: 'line' });
    await builder.getByLabel('Table', { exact: true }).selectOption('disk');
    await builder.getByLabel('Aggregate of field 1').selectOption('max');
    const first = page.getByRole('button', { name: 'host=a', exact: true });
    await first.waitFor();
    await page.getByRole('row', { name: /^host=b 3 MiB/ }).waitFor();
    await page.getByRole('img', { name: /3 series.*highest 4.5 MiB for host=c/ }).waitFor();
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/influxql-builder-light.png` });

    const focused = () =>
      page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
    await first.focus();
    for (const [key, name] of [
      ['ArrowDown', 'host=b'],
      ['End', 'host=c'],
      ['ArrowRight', 'Filter for host=c'],
      ['ArrowUp', 'Filter for host=b'],
      ['ArrowLeft', 'host=b'],
    ] as const) {
      await page.keyboard.press(key);
      assert.equal(await focused(), name, key);
    }
    const tree = page.getByRole('list', { name: 'Tables' });
    assert.equal(await tree.locator('button:not([tabindex="-1"])').count(), 1);
    assert.equal(await page.locator('.legend tbody button:not([tabindex="-1"])').count(), 1);
    await tree.getByRole('button', { name: 'cpu', exact: true }).focus();
    await page.keyboard.press('Enter');
    for (const [key, name] of [
      ['ArrowDown', /^host/],
      ['ArrowDown', /^usage/],
      ['ArrowRight', /^Plot usage/],
    ] as const) {
      await page.keyboard.press(key);
      assert.match(String(await focused()), name, key);
    }
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /2 series/ }).waitFor();
    assert.equal(
      await page
        .getByRole('navigation', { name: 'Open queries' })
        .locator('.tab-list button:not([tabindex="-1"])')
        .count(),
      1,
    );
    assert.deepEqual(await violationsOn(page), []);
  });

  it('runs the restored query of a tab again', async () => {
    await open({ db: 'metrics', q: 'SELECT count(*) AS n FROM cpu', view: 'table' });
    await cell('100').waitFor();
    await page.waitForTimeout(500); // Waits until the tab is stored.
    await page.goto(`${server.url}/console/explore`);
    await cell('100').waitFor();
    await page.reload();
    await cell('100').waitFor();
    await page.getByRole('link', { name: 'Databases' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Databases' }).waitFor();
    await page.getByRole('link', { name: 'Explore' }).first().click();
    await cell('100').waitFor();
    // A query that was not run before shows only a hint.
    await page.getByLabel('New query', { exact: true }).click();
    await type('SELECT 7 AS typed');
    await page.getByText('This query has not been run').waitFor();
  });

  it('reuses the tab of a link that is opened again, and hides the query on a phone', async () => {
    await open({
      db: 'metrics',
      q: 'SELECT count(*) AS n FROM cpu',
      view: 'table',
      from: 'now-7d',
    });
    await page.getByText('This query has not been run').or(cell('100')).first().waitFor();
    const tabs = page.getByRole('navigation', { name: 'Open queries' }).locator('.tab');
    await page.waitForTimeout(200);
    const before = await tabs.count();
    await page.waitForTimeout(200); // The tab is stored 300 ms after its change.
    await open({
      db: 'metrics',
      q: 'SELECT count(*) AS n FROM cpu',
      view: 'table',
      from: 'now-7d',
    });
    await page.getByText('This query has not been run').or(cell('100')).first().waitFor();
    assert.equal(await tabs.count(), before);

    await page.setViewportSize({ width: 360, height: 740 });
    await open({ db: 'metrics', lang: 'sql' });
    await page.getByLabel('Table', { exact: true }).selectOption('cpu');
    const chart = page.getByRole('img', { name: /2 series/ });
    await chart.waitFor();
    await button('Edit query').waitFor();
    const { y = 740 } = (await chart.boundingBox()) ?? {};
    assert.ok(y < 400, `the chart starts at ${y} px`);
    assert.deepEqual(await violationsOn(page), []);
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/explore-phone.png` });
    await button('Edit query').click();
    await editor().waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('causes no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});
