// Source: docs/CONSOLE-WRITE.md, "Write line protocol" and "Write a CSV file".
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Locator, Page, Route } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

const WRITES = '**/api/v3/write_lp?*';
const CONFLICTS = 'Resolve the column conflicts above first.';
const TIMES =
  'a date such as 2024-12-30T08:00:00Z, 2024-12-30 08:00:00 or 2024-12-30, or an integer (s, ms, us or ns since 1970)';
const MARKUP = '<img src=x onerror=alert(1)>';

let server: ServerInProcess;
let browser: TestBrowser;
let page: Page;

const dialog = (): Locator => page.getByRole('dialog', { name: 'Write' });
const button = (name: string): Locator => dialog().getByRole('button', { name, exact: true });
const chooser = (name: string): Locator => dialog().getByRole('combobox', { name, exact: true });
const told = (text: string | RegExp): Promise<void> =>
  dialog().getByText(text, { exact: true }).waitFor();
const gone = (text: string | RegExp): Promise<void> =>
  dialog().getByText(text, { exact: true }).waitFor({ state: 'detached' });
const firstLines = (): Locator => dialog().getByRole('region', { name: 'First lines' });
const focused = (): Promise<string> =>
  page.evaluate('document.activeElement.innerText || document.activeElement.id');
const notWritten = async (): Promise<readonly string[]> =>
  await dialog()
    .getByRole('list', { name: 'Rows that are not written' })
    .getByRole('listitem')
    .allTextContents();

async function open(db: string, way: 'Lines' | 'CSV file'): Promise<void> {
  await page.goto(`${server.url}/console/data`);
  await page.getByRole('button', { name: 'Write', exact: true }).click();
  await dialog().getByLabel('Database').fill(db);
  await button(way).click();
}
async function choose(name: string, text: string): Promise<void> {
  await dialog()
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });
}
async function csvOf(db: string, q: string): Promise<string> {
  const search = new URLSearchParams({ db, q, format: 'csv' });
  const { status, text } = await server.http.send(`/api/v3/query_sql?${search}`);
  assert.equal(status, 200, text);
  return text;
}
const waitFor = async (lines: string): Promise<void> => {
  for (let tries = 0; tries < 200; tries++) {
    if ((await firstLines().allTextContents()).join('') === lines) return;
    await page.waitForTimeout(25);
  }
  assert.equal((await firstLines().allTextContents()).join(''), lines);
};

/** Twelve rows: two are invalid, one spans two lines, one has the largest integer. */
const READINGS = [
  'at,room,temp,count,<b>note',
  `2024-12-30T08:00:00Z,Living room,21.5,9223372036854775807,"a ""b"", ${MARKUP}"`,
  '2024-12-30T08:01:00Z,Kitchen,22,1,"two\nlines"',
  'soon,Kitchen,22,2,x',
  '2024-12-30T09:00:00Z,Kitchen,warm,3,x',
  ...Array.from({ length: 8 }, (_, i) => `2024-12-30T10:0${i}:00+02:00,Kitchen,20,${i},n${i}`),
].join('\n');

const BIG_COUNT = 120_000;
/** Needs more than one request: a point has at least 36 bytes. */
const BIG = `ts,host,v\n${Array.from(
  { length: BIG_COUNT },
  (_, i) => `${1_735_549_200_000_000 + i},h${i % 10},${i}`,
).join('\n')}\n`;

describe('the write drawer', { skip: SKIP }, () => {
  before(async () => {
    server = await ServerInProcess.start({ flags: ['--without-auth', '--services', 'tsdb'] });
    browser = await TestBrowser.start();
    page = await (await browser.context()).newPage();
    page.on('dialog', (each) => {
      browser.complaints.push(`dialog: ${each.message()}`);
      void each.dismiss();
    });
  });
  after(async () => {
    await browser?.close();
    await server?.close();
    if (browser) assert.deepEqual(browser.complaints, []);
  });

  it('reports errors in typed lines, and the schema changes of the others', async () => {
    await open('typed', 'Lines');
    const lines = dialog().getByLabel('Lines');
    await lines.fill('cpu,host=a usage=1.5\ncpu,host usage=2');
    await told('line 2, column 9: a tag needs "=" and a value');
    await told('New table cpu: tag host, field usage (float)');
    await lines.fill('cpu,host=a usage=1.5 1700000000\n\n# a remark\nmem free=3i 1700000000');
    await told('2 lines for cpu, mem');
    await told('New table mem: field free (integer)');
    await button('Write').click();
    await told('2 lines written.');
    await told('cpu already has these columns');

    await lines.fill('cpu,host=a x=1i 1700000001\ncpu,host=b usage=2i 1700000002');
    await told('1 new column in cpu: x (integer)');
    await told(
      "Column 'usage' of table 'cpu' has the type float, not integer: the server rejects such rows",
    );
    await told(CONFLICTS);
    assert.ok(await button('Write').isDisabled());
    await lines.fill('cpu,host=a x=1i 1700000001\ncpu,host=b\ncpu,host=b\ncpu,host=b x=2i 5');
    await told('line 2, column 11: the fields are missing');
    await button('Write').click();
    await told('2 lines written, 2 lines rejected.');
    await told('2 lines can be written, 2 lines cannot');
    assert.deepEqual(await notWritten(), []);
    assert.equal(await focused(), 'Query cpu');
    assert.equal(await csvOf('typed', 'SELECT x FROM cpu ORDER BY x LIMIT 2'), 'x\n1\n2\n');
    await lines.fill('cpu,host=b');
    await dialog().getByText('2 lines written, 2 lines rejected.').waitFor({ state: 'detached' });
    await button('Write').click();
    await told('0 lines written, 1 line rejected.');
    assert.equal(await button('Query cpu').count(), 0);

    await lines.fill('cpu,host=c usage=5 1700000003');
    await told('1 line for cpu');
    await button('Write').click();
    await told('1 line written.');
    await dialog().getByLabel('Database').fill('elsewhere');
    await button('Query cpu').click();
    await page.getByRole('gridcell', { name: 'c', exact: true }).waitFor();
  });

  it('says when a database is new, and drops errors of a changed name', async () => {
    await open('no good name', 'Lines');
    await dialog().getByLabel('Lines').fill('m f=1 1');
    await button('Write').click();
    await told(/^invalid character in database/);
    await dialog().getByLabel('Database').fill('tiral');
    await gone(/^invalid character in database/);
    await told('New database tiral');
    await button('Write').click();
    await told('1 line written.');
    await gone('New database tiral');
  });

  it('counts the valid lines, and reports each error once', async () => {
    await open('typed', 'Lines');
    await dialog().getByLabel('Lines').fill('once f=1 1\nonce f=\nonce f=2 99999999999999999999');
    await told('2 lines can be written, 1 line cannot');
    await button('Write').click();
    await told('1 line written, 2 lines rejected.');
    const [only = '', ...others] = await notWritten();
    assert.match(only, /^line 3: /);
    assert.deepEqual(others, []);
    await told('line 2, column 8: the field value is missing');
    await dialog().getByLabel('Lines').fill('once\n'.repeat(7));
    await told('0 lines can be written, 7 lines cannot; the first 5 errors are shown above');
    await button('Write').click();
    await told('0 lines written, 7 lines rejected.');
    const rest = await notWritten();
    assert.match(rest.join(), /^line 6: .*; the same error in line 7$/);
  });

  it('confirms before it discards input', async () => {
    const asked = 'Your input has not been written. Close again to discard it.';
    await open('typed', 'Lines');
    await dialog().getByLabel('Lines').fill('m f=1');
    await page.keyboard.press('Escape');
    await told(asked);
    assert.equal(await dialog().getByLabel('Lines').inputValue(), 'm f=1');
    await dialog().getByLabel('Lines').fill('m f=2');
    await gone(asked);
    await page.keyboard.press('Escape');
    await told(asked);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await open('typed', 'CSV file');
    await choose('m.csv', 't,v\n1,2\n');
    await told('1 row can be written');
    await page.keyboard.press('Escape');
    await told(asked);
  });

  it('says why the write button is disabled', async () => {
    await open('', 'Lines');
    assert.ok(await button('Write').isDisabled());
    await told('Enter a database name.');
    await dialog().getByLabel('Database').fill('typed');
    await told('Nothing to write.');
  });

  it('moves the focus to the next step, and is closed by Escape', async () => {
    const isClosed = () => dialog().waitFor({ state: 'detached' });
    await page.goto(`${server.url}/console/data`);
    await page.getByRole('button', { name: 'Write', exact: true }).click();
    await dialog().waitFor();
    assert.equal(await focused(), 'write-db');
    await page.keyboard.press('Escape');
    await isClosed();
    await open('focus', 'CSV file');
    await choose('m.csv', 't,v\n1,2\n');
    await told('1 row can be written');
    await button('Write').click();
    await told('1 row written.');
    assert.equal(await focused(), 'Query m');
    await page.keyboard.press('Escape');
    await isClosed();
    await open('no good name', 'CSV file');
    await choose('m.csv', 't,v\n1,2\n');
    await told('1 row can be written');
    await button('Write').click();
    await told(/^Stopped: 0 rows written/);
    assert.match(await focused(), /^Stopped: 0 rows written/);
    await page.keyboard.press('Escape');
    await isClosed();
  });

  it('recovers after its worker failed to load', async () => {
    const script = /assets\/line-protocol\.worker.*\.js$/;
    await page.route(script, (route) => route.abort());
    await open('typed', 'Lines');
    const lines = dialog().getByLabel('Lines');
    await lines.fill('cpu v=');
    await dialog().getByRole('alert').waitFor();
    await page.unroute(script);
    await lines.fill('cpu v');
    await told('line 1, column 6: a field needs a name, "=" and a value');
  });

  it('writes a CSV file to a table, and lists the invalid rows', async () => {
    await open('home', 'CSV file');
    await choose(`${MARKUP}.csv`, READINGS);
    await told(`${MARKUP}.csv`);
    assert.equal(await dialog().getByLabel('Table').inputValue(), 'img_src_x_onerror_alert_1');
    await dialog().getByLabel('Table').fill('readings');
    await told('10 rows can be written, 2 rows cannot');
    assert.deepEqual(await notWritten(), [
      `line 5: column 'at': 'soon' is not ${TIMES}`,
      "line 6: column 'temp': 'warm' is not a valid float",
    ]);
    const roles = async (name: string) => await chooser(`Role of ${name}`).inputValue();
    assert.deepEqual(
      [await roles('at'), await roles('room'), await roles('temp'), await roles('<b>note')],
      ['time', 'tag', 'field', 'field'],
    );
    assert.deepEqual(
      await Promise.all(
        ['temp', 'count', '<b>note'].map((name) => chooser(`Type of ${name}`).inputValue()),
      ),
      ['float', 'int', 'string'],
    );
    await told(
      'New table readings: tag room, fields temp (float), count (integer), <b>note (text)',
    );
    await waitFor(
      `readings,room=Living\\ room temp=21.5,count=9223372036854775807i,<b>note="a \\"b\\", ${MARKUP}" 1735545600000000000\n` +
        'readings,room=Kitchen temp=22,count=1i,<b>note="two\nlines" 1735545660000000000\n' +
        'readings,room=Kitchen temp=20,count=0i,<b>note="n0" 1735545600000000000\n',
    );
    assert.equal(await dialog().locator('img, b').count(), 0, 'markup stays text');
    await button('Write').click();
    await told('10 rows written, 2 rows rejected.');
    assert.deepEqual((await notWritten()).length, 2);
    assert.equal(
      await csvOf('home', 'SELECT room, temp, count FROM readings ORDER BY count DESC LIMIT 2'),
      'room,temp,count\nLiving room,21.5,9223372036854775807\nKitchen,20.0,7\n',
    );
    assert.equal(
      await csvOf('home', `SELECT "<b>note" AS note FROM readings WHERE room = 'Living room'`),
      `note\n"a ""b"", ${MARKUP}"\n`,
    );

    await told('readings already has these columns');
    await chooser('Type of count').selectOption('text');
    await told(
      "Column 'count' of table 'readings' has the type integer, not text: the server rejects such rows",
    );
    await told(CONFLICTS);
    await told('10 rows can be written once the column conflicts are resolved, 2 rows cannot');
    assert.ok(await button('Write').isDisabled());
    await chooser('Role of count').selectOption('ignore');
    await told('readings already has these columns');
    await button('Write').click();
    await told('10 rows written, 2 rows rejected.');
    await dialog().getByLabel('Database').fill('elsewhere');
    await button('Query readings').click();
    await page.getByRole('gridcell', { name: 'Living room', exact: true }).waitFor();
  });

  it('parses times in the selected format', async () => {
    await open('home', 'CSV file');
    await choose('clock.csv', 'v,time\n1,5000\n');
    await waitFor('clock v=1i 5000000000000\n');
    await told(`Each timestamp must be ${TIMES}. Dates without a time zone are UTC.`);
    await dialog().getByLabel('Timestamp format').selectOption('ms');
    await waitFor('clock v=1i 5000000000\n');
    await dialog().getByLabel('Timestamp format').selectOption('rfc3339');
    await told('0 rows can be written, 1 row cannot');
    assert.ok(await button('Write').isDisabled());
    await dialog().getByLabel('Timestamp format').selectOption('ns');
    await waitFor('clock v=1i 5000\n');
    await chooser('Role of time').selectOption('ignore');
    await told(/^No time column is selected: all rows get .* overwrite each other\.$/);
    await chooser('Role of v').selectOption('time');
    await told('Select at least one field column.');
    await chooser('Role of time').selectOption('field');
    await waitFor('clock time=5000i 1\n');
    await told(
      "The column name 'time' is reserved for the timestamp: the server rejects such rows",
    );
    assert.ok(await button('Write').isDisabled());
  });

  it('reports invalid times, and the effect of rows without a time', async () => {
    await open('home', 'CSV file');
    await choose('old.csv', 'date,v\n20/11/2015 08:00,1\n21/11/2015 08:00,2\n');
    await told(
      '2 rows can be written; without timestamps, rows with the same tags overwrite each other',
    );
    await dialog()
      .getByText(
        `Column 'date' looks like a time column, but line 2 contains '20/11/2015 08:00', which is not ${TIMES}.`,
      )
      .waitFor();
    await chooser('Role of date').selectOption('ignore');
    await told('2 rows can be written; without timestamps and tags, the rows overwrite each other');
    await button('Write').click();
    await told('2 rows written; without timestamps and tags, the rows overwrite each other.');
    assert.equal(await csvOf('home', 'SELECT count(*) AS n FROM old'), 'n\n1\n');
    await chooser('Role of date').selectOption('time');
    await told('0 rows can be written, 2 rows cannot');
    assert.deepEqual(await notWritten(), [
      `line 2: column 'date': '20/11/2015 08:00' is not ${TIMES}; the same error in line 3`,
    ]);
  });

  it('reports rows with too many values or open quotes, and accepts the others', async () => {
    await open('home', 'CSV file');
    await choose('odd.csv', '\uFEFFat;s\n1;a;b\n2;"a\n3;b\n4;"c"d\n5;"\n');
    await told('Columns are separated by semicolons');
    await chooser('Role of s').selectOption('field');
    await told('1 row can be written, 4 rows cannot');
    assert.deepEqual(await notWritten(), [
      'line 2: the row has 3 values for 2 columns',
      'line 3: unclosed quote; the same error in line 6',
      'line 5: text after a closing quote',
    ]);
    await waitFor('odd s="b" 3000000000\n');
  });

  it('accepts a dropped file, and reports files that are not CSV', async () => {
    await open('home', 'CSV file');
    const dropped = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['t,v\\n1,2\\n'], 'dropped file.csv'));
      return transfer;
    })()`);
    await page.dispatchEvent('.file-choice', 'drop', { dataTransfer: dropped });
    await waitFor('dropped_file t=1i,v=2i\n');
    await choose('endless.csv', `a,b\n1,"${'x'.repeat(4_194_305)}`);
    await told('line 2: a value is longer than 4194304 characters; check for an unclosed quote');
    await choose('empty.csv', '');
    await told('The file has no header line with column names.');
  });

  it('warns about decimal commas and missing values', async () => {
    await open('home', 'CSV file');
    await choose('wert.csv', 'Zeit;Wert;n;Ort\n2024-12-30;1,5;1;a\n2024-12-31;2;2\n');
    await told('Values with a decimal comma are not recognized as numbers.');
    await told('2 rows can be written');
    await told('1 row has fewer values than columns; missing values are left empty');
  });

  it('keeps choices for a file with the same columns', async () => {
    await open('home', 'CSV file');
    await choose('marks.csv', 'mark,v\n5000,1\n');
    await chooser('Role of mark').selectOption('time');
    await dialog().getByLabel('Timestamp format').selectOption('ms');
    await dialog().getByLabel('Table').fill('kept');
    await choose('marks.csv', 'mark,v\n6000,1\n');
    await waitFor('kept v=1i 6000000000\n');
    await choose('other.csv', 'mark,w\n6000,1\n');
    await waitFor('other mark=6000i,w=1i\n');
    assert.equal(await dialog().getByLabel('Timestamp format').inputValue(), 'auto');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Write', exact: true }).click();
    await button('CSV file').click();
    await choose('marks.csv', 'mark,v\n7000,1\n');
    await waitFor('marks v=1i 7000000000\n');
  });

  it('reports files without rows and binary files', async () => {
    await open('home', 'CSV file');
    await choose('none.csv', 'a,b\n');
    await told('The file has a header line but no rows.');
    await choose('picture.csv', '\x89PNG\r\n\x1A\n\0\0\0\rIHDR');
    await told('the file contains NUL characters; use a text file');
    await choose('dmy.csv', 'time,v\n2024-12-30,1\n');
    await told(/^New table dmy: /);
    await dialog().getByLabel('Timestamp format').selectOption('s');
    await told('0 rows can be written, 1 row cannot');
    await gone(/^New table dmy: /);
  });

  it('reports the rows that the server rejects by line of the file', async () => {
    await open('home', 'CSV file');
    await choose('n.csv', 'at,s,n\n1,"x\ny",1\n2,z,9223372036854775808\n3,z,3\n');
    assert.equal(await chooser('Type of n').inputValue(), 'uint');
    await chooser('Type of n').selectOption('integer');
    await told('3 rows can be written');
    await button('Write').click();
    await told('2 rows written, 1 row rejected.');
    assert.deepEqual(await notWritten(), [
      'line 4: Unable to parse integer value `9223372036854775808`',
    ]);
    assert.equal(await csvOf('home', 'SELECT n FROM n ORDER BY n'), 'n\n1\n3\n');
  });

  it('sends a large file in several requests, and retries when the server is busy', async () => {
    await open('big', 'CSV file');
    const sizes: number[] = [];
    await page.route(WRITES, async (route: Route) => {
      sizes.push(route.request().postDataBuffer()?.length ?? 0);
      if (sizes.length === 1) {
        await route.fulfill({ status: 503, headers: { 'retry-after': '0' }, body: '{}' });
      } else await route.continue();
    });
    await choose('big.csv', BIG);
    await told('120,000 rows can be written');
    await page.evaluate(`globalThis.seen = new Set();
      new MutationObserver(() => seen.add(document.querySelector('progress')?.value))
        .observe(document.body, { subtree: true, childList: true, attributes: true })`);
    await button('Write').click();
    await told('120,000 rows written.');
    const stepCount = await page.evaluate<number>('seen.size');
    assert.ok(stepCount > 5, `${stepCount} steps of progress`);
    await page.unroute(WRITES);
    assert.equal(
      await csvOf('big', 'SELECT count(*) AS n, sum(v) AS v FROM big'),
      `n,v\n120000,${(BIG_COUNT * (BIG_COUNT - 1)) / 2}\n`,
    );
    assert.ok(
      sizes.length > 5 && sizes.every((size) => size > 0 && size <= 1024 * 1024),
      sizes.join(' '),
    );
    assert.equal(sizes[0], sizes[1]);
  });

  it('reports the written rows after a cancel', async () => {
    await open('half', 'CSV file');
    const held: Route[] = [];
    let count = 0;
    await page.route(WRITES, async (route: Route) => {
      if (++count === 1) await route.continue();
      else held.push(route);
    });
    await choose('big.csv', BIG);
    await told('120,000 rows can be written');
    await button('Write').click();
    await dialog()
      .getByText(/, [1-9][\d,]* rows written$/)
      .waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await focused(), 'Cancel');
    await page.keyboard.press('Enter');
    const note = dialog().getByText(/^Canceled: /);
    await note.waitFor();
    assert.equal(await focused(), 'Query big');
    const [, shown = ''] =
      /^Canceled: ([\d,]+) rows written, plus those of requests in progress\. Written rows are kept/.exec(
        (await note.textContent()) ?? '',
      ) ?? [];
    assert.equal(
      await csvOf('half', 'SELECT count(*) AS n FROM big'),
      `n\n${shown.replaceAll(',', '')}\n`,
    );
    await Promise.all(held.map((route) => route.abort().catch(() => {})));
    await page.unroute(WRITES);
    await button('Write again').click();
    await told('120,000 rows written.');
    assert.equal(await csvOf('half', 'SELECT count(*) AS n FROM big'), 'n\n120000\n');
  });

  it('reports an unreachable server and a rejected request', async () => {
    await open('no good name', 'CSV file');
    await choose('m.csv', 't,v\n1,2\n');
    await button('Write').click();
    await told(/^invalid character in database/);
    await told(/^Stopped: 0 rows written/);
    await dialog().getByLabel('Database').fill('home');
    await gone(/^invalid character in database|^Stopped: /);
    await page.route(WRITES, (route) => route.abort());
    await button('Write').click();
    await told('the server is unreachable, or the connection was lost');
    await page.unroute(WRITES);
    await button('Write again').click();
    await told('1 row written.');
  });

  for (const { theme, width } of [
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 390 },
  ] as const) {
    it(`is accessible in ${theme} at ${width} pixels`, async () => {
      const before = page;
      page = await (await browser.context({ theme, width })).newPage();
      try {
        await open(`looks-${theme}`, 'CSV file');
        assert.deepEqual(await violationsOn(page), []);
        await choose('readings.csv', READINGS);
        await told('10 rows can be written, 2 rows cannot');
        await told(/^New table readings: /);
        assert.deepEqual(await violationsOn(page), []);
        await button('Write').click();
        await told('10 rows written, 2 rows rejected.');
        assert.deepEqual(await violationsOn(page), []);
        const wide = await dialog().evaluate((each) => each.scrollWidth - each.clientWidth);
        const columns = await dialog()
          .getByRole('group', { name: 'Columns of the file' })
          .evaluate((each) => each.scrollWidth - each.clientWidth);
        assert.deepEqual([wide, columns], [0, 0], 'nothing scrolls sideways');
      } finally {
        await page.context().close();
        page = before;
      }
    });
  }
});
