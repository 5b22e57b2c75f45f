// Source: docs/CONSOLE.md. Expected statistics come from a second query.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { ServerInProcess } from '../harness/index.js';
import { SKIP, TestBrowser, violationsOn } from './browser.js';

const START_MS = Date.parse('2020-01-01T00:00:00Z');
const HOSTS = ['a', 'b', 'c'];
const MINUTE_COUNT = 60;
const PICTURES = process.env['PLINTH_TEST_PICTURES'];
/** --series-2 of the light theme. */
const SECOND_COLOUR = [194, 87, 12];
const hold = () => {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
};
/** Integers, so that sums are exact. */
const valueAt = (host: number, minute: number): number => (minute * (host + 7) + host) % 41;

let server: ServerInProcess;
let browser: TestBrowser;
let page: Page;

describe('charts', { skip: SKIP }, () => {
  before(async () => {
    server = await ServerInProcess.start({ flags: ['--without-auth', '--services', 'tsdb'] });
    const lines = HOSTS.flatMap((host, index) =>
      Array.from({ length: MINUTE_COUNT }, (_, minute) => {
        // One series has a gap.
        if (host === 'b' && minute >= 20 && minute < 30) return '';
        return `m,host=${host} v=${valueAt(index, minute)} ${START_MS / 1000 + 60 * minute}`;
      }),
    );
    const path = '/api/v3/write_lp?db=home&precision=second';
    assert.equal((await server.http.send(path, { body: lines.join('\n') })).status, 204);
    const units = Array.from({ length: MINUTE_COUNT }, (_, minute) => {
      const fields = `used_bytes=${2 ** 32 - minute * 2 ** 20},load_percent=${30 + minute},wait_ms=${minute}`;
      return `u ${fields} ${START_MS / 1000 + 60 * minute}`;
    });
    assert.equal((await server.http.send(path, { body: units.join('\n') })).status, 204);
    browser = await TestBrowser.start();
    page = await (await browser.context()).newPage();
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = (search: Readonly<Record<string, string>>) =>
    page.goto(
      `${server.url}/console/explore?${new URLSearchParams({
        db: 'home',
        q: 'SELECT time, host, v FROM m ORDER BY time',
        ...search,
      })}`,
    );
  /** The statistics as computed by a second query. */
  const figures = async (): Promise<readonly (readonly string[])[]> => {
    const q =
      'SELECT host, last_value(v ORDER BY time) AS last, min(v) AS min, max(v) AS max, avg(v) AS avg, sum(v) AS sum FROM m GROUP BY host ORDER BY host';
    const search = new URLSearchParams({ db: 'home', format: 'json_rows', q });
    const rows = JSON.parse((await server.http.send(`/api/v3/query_sql?${search}`)).text);
    return rows.map((row: Record<string, number>) => [
      `host=${row['host']}`,
      ...['last', 'min', 'max', 'avg', 'sum'].map((name) => {
        const value = row[name] ?? 0;
        return String(Number(value.toFixed(value < 10 ? 3 : 2)));
      }),
    ]);
  };
  /** The colored share of the plot. */
  const colouredShare = (): Promise<number> =>
    page.evaluate<number>(`(() => {
      const canvas = document.querySelector('.u-wrap canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) {
        const [red, green, blue, alpha] = data.slice(at, at + 4);
        if (alpha > 20 && Math.max(red, green, blue) - Math.min(red, green, blue) > 25) count++;
      }
      return count / (data.length / 4);
    })()`);

  it('of all kinds show their series with the statistics of a second query', async () => {
    const expected = await figures();
    assert.equal(expected.length, HOSTS.length);
    const shares = new Map<string, number>();
    for (const view of ['line', 'area', 'bar', 'scatter', 'heat']) {
      await open({ view });
      await page.getByRole('img', { name: /3 series, .*highest 40/ }).waitFor();
      const rows = page.locator('.legend-table tbody tr');
      const texts = await Promise.all(
        (await rows.all()).map((row) => row.getByRole('cell').allTextContents()),
      );
      assert.deepEqual(
        texts.map((cells) => cells.slice(0, 6)),
        expected,
        view,
      );
      shares.set(view, await colouredShare());
    }
    const shareOf = (view: string): number => shares.get(view) ?? 0;
    for (const [view, share] of shares) assert.ok(share > 0.001, `${view}: ${share}`);
    assert.ok(shareOf('area') > 2 * shareOf('line'), 'an area is filled');
    assert.ok(shareOf('scatter') < shareOf('line'), 'dots are no lines');
  });

  it('stack areas and bars, and draw lines on a logarithmic scale', async () => {
    for (const view of ['area', 'bar']) {
      await open({ view, stack: '1' });
      await page.getByRole('img', { name: /3 series/ }).waitFor();
      assert.ok(await page.getByRole('checkbox', { name: 'stack' }).isChecked());
      // A stacked chart is higher than its highest series.
      assert.ok((await colouredShare()) > 0.01, view);
    }
    await open({ view: 'line', scale: 'log' });
    await page.getByRole('img', { name: /3 series/ }).waitFor();
    assert.ok((await colouredShare()) > 0.001);
  });

  /** The share of the plot's height between the highest and the lowest pixel of a color. */
  const heightOf = (colour: readonly number[]): Promise<number> =>
    page.evaluate<number>(`(() => {
      const canvas = document.querySelector('.u-wrap canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      const rows = [];
      for (let at = 0; at < data.length; at += 4)
        if (${JSON.stringify(colour)}.every((value, index) => Math.abs(data[at + index] - value) < 12))
          rows.push(Math.floor(at / 4 / canvas.width));
      return rows.length === 0 ? 0 : (Math.max(...rows) - Math.min(...rows)) / canvas.height;
    })()`);

  it('have an axis on each side for two units, and one axis for more', async () => {
    const q = 'SELECT time, used_bytes, load_percent FROM u ORDER BY time';
    for (const kind of [{ view: 'line' }, { view: 'area', stack: '1' }, { view: 'scatter' }]) {
      await open({ q, ...kind });
      await page
        .getByRole('img', {
          name: /2 series, .*highest 4 GiB for used_bytes and 89 % for load_percent, left axis in bytes, right axis in percent/,
        })
        .waitFor();
      if (kind.view !== 'line') continue;
      // On the axis of the bytes, percent values would be a line at the bottom.
      assert.ok((await heightOf(SECOND_COLOUR)) > 0.5);
      assert.equal(await page.getByText('right axis', { exact: true }).count(), 1);
      assert.deepEqual(await violationsOn(page), []);
      if (PICTURES) await page.screenshot({ path: `${PICTURES}/two-axes-light.png` });
    }
    await open({ q, view: 'line' });
    await page.getByRole('button', { name: 'load_percent', exact: true }).click();
    await page.getByRole('img', { name: /1 series, .*highest 89 % for load_percent$/ }).waitFor();
    assert.equal(await page.getByText('right axis', { exact: true }).count(), 0);

    await open({ q: 'SELECT * FROM u ORDER BY time', view: 'line' });
    await page.getByRole('img', { name: /3 series, .*for wait_ms$/ }).waitFor();
    await page.getByText('3 units share this axis; see the legend').waitFor();
    // A heat map adds up the points of all series.
    await open({ q, view: 'heat' });
    await page.getByText('2 units share this axis; see the legend · color intensity').waitFor();
  });

  it('of kind stat show the last value of each series with a sparkline', async () => {
    await open({ view: 'stat' });
    const cards = page.locator('.stat');
    await cards.first().waitFor();
    const texts = await cards.locator('strong').allTextContents();
    const last = (await figures()).map(([, value]) => value);
    assert.deepEqual(texts, last);
    assert.deepEqual(await violationsOn(page), []);
    await open({ view: 'stat', q: 'SELECT count(*) AS n FROM m' });
    await page.getByText(String(HOSTS.length * MINUTE_COUNT - 10), { exact: true }).waitFor();
  });

  it('of kind stat name the row of their value', async () => {
    const first = 'SELECT host, max(v) AS v FROM m GROUP BY host ORDER BY host';
    await open({ view: 'stat', q: first });
    await page.getByText('Row 1 of 3 · host=a', { exact: true }).waitFor();
    await open({ view: 'stat', q: `${first} LIMIT 1` });
    await page.getByText('host=a', { exact: true }).waitFor();
  });

  it('show a note when the statistics are of aggregated points', async () => {
    const words = page.getByText(/Statistics cover the plotted points/);
    const q =
      "SELECT date_bin(INTERVAL '1 hour', time) AS time, host, avg(v) AS v FROM m GROUP BY 1, host";
    await open({ view: 'line', q });
    await words.waitFor();
    await open({ view: 'line' });
    await page.getByRole('img', { name: /3 series/ }).waitFor();
    assert.equal(await words.count(), 0);
  });

  it('draw series that contain only zeros', async () => {
    const q = 'SELECT time, v * 0 AS v FROM m ORDER BY time';
    for (const view of ['line', 'area', 'scatter']) {
      await open({ q, view });
      await page.getByRole('img', { name: /1 series.*highest 0 / }).waitFor();
      assert.ok((await colouredShare()) > 0, view);
    }
  });

  it('of the server page show a placeholder until they have loaded', async () => {
    const own = await (await browser.context()).newPage();
    const { promise: answered, resolve: response } = hold();
    await own.route('**/api/v3/query_sql*', async (route) => {
      await answered;
      await route.continue();
    });
    await own.goto(`${server.url}/console/server`);
    const room = own.locator('.panel .skeleton');
    await room.nth(7).waitFor();
    response();
    await room.first().waitFor({ state: 'detached' });
    await own.close();
  });

  it('isolate one series and show all again by keyboard', async () => {
    await open({ view: 'line' });
    await page.getByRole('img', { name: /3 series/ }).waitFor();
    await page.getByRole('button', { name: 'host=b', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /1 series/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('img', { name: /3 series/ }).waitFor();
  });

  it('announce the values of their points by keyboard, and switch to the table', async () => {
    await open({ view: 'line' });
    const chart = page.getByRole('img', { name: /3 series/ });
    await chart.focus();
    const spoken = async (text: string): Promise<void> =>
      await page
        .getByRole('status')
        .filter({ hasText: text })
        .first()
        .waitFor({ state: 'attached' });
    const at = (minute: number): string =>
      HOSTS.filter((host) => host !== 'b' || minute < 20 || minute >= 30)
        .map((host) => `host=${host} ${valueAt(HOSTS.indexOf(host), minute)}`)
        .join(', ');
    await page.keyboard.press('ArrowRight');
    await spoken(`2020-01-01 00:00:00 UTC: ${at(0)}`);
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('ArrowRight');
    await spoken(`2020-01-01 00:21:00 UTC: ${at(21)}`);
    await page.locator('.time-chart-tip').getByText('2020-01-01 00:21:00 UTC').waitFor();
    assert.deepEqual(await violationsOn(page), []);
    await page.keyboard.press('End');
    await spoken(`2020-01-01 00:59:00 UTC: ${at(59)}`);
    await page.keyboard.press('t');
    await page.getByRole('grid').waitFor();
  });

  it('cause no browser errors', () => {
    assert.deepEqual(browser.complaints, []);
  });
});
