#!/usr/bin/env node
// npm run console:shots [-- word ...]: takes the pictures of docs/console/ from a throw-away server with the sample data, each in
// both themes; words choose pages. Needs a Chromium (PLINTH_CHROMIUM, or `chromium` on the path). Look at each before it goes in.
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureBuiltOrExit } from './ensure-built.mjs';
import { HttpClient } from './lib/http-client.mjs';
import { root } from './lib/root.mjs';
import { startServerProcess } from './lib/server-process.mjs';

await ensureBuiltOrExit();
const load = createRequire(path.join(root, 'tests', 'package.json'));
const { chromium } = load('playwright-core');

const RANGE = { from: '2012-01-01', to: '2016-01-01' };
const explore = (search) =>
  `explore?${new URLSearchParams({ db: 'sample', lang: 'sql', ...RANGE, ...search })}`;
const OVER_TIME = (field) =>
  `SELECT date_bin(\${interval}, time) AS time, location, avg(${field}) AS ${field}\nFROM weather\nWHERE time >= \${from} AND time < \${to}\nGROUP BY 1, location\nORDER BY 1`;

/** Each with what has to be there. */
const PAGES = {
  home: ['', 'table'],
  explore: [explore({ view: 'line', q: OVER_TIME('temp_max') }), 'canvas'],
  rows: [explore({ view: 'table', q: 'SELECT * FROM weather ORDER BY time' }), '[role=gridcell]'],
  data: ['data', 'table'],
  table: ['data/sample/weather', '[role=gridcell]'],
  caches: ['caches?db=sample', 'table'],
  triggers: ['triggers?db=sample', 'table >> nth=1'],
  webhooks: ['webhooks/1', 'table >> nth=0'],
  server: ['server?from=now-1m', 'canvas'],
};
/** The server is to have measured something when its own page is looked at. */
const MEASURED_MS = 45_000;
/** Refuses every third delivery. */
let deliveryCount = 0;
const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(++deliveryCount % 3 === 0 ? 503 : 200).end('ok');
});
const words = process.argv.slice(2);
const folder = path.join(root, 'docs', 'console');
const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-shots-'));
const pluginDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-shots-plugins-'));
const FLAGS = [
  ...['--services', 'tsdb,webhooks', '--tsdb-internal-metrics-interval-ms', '1000'],
  ...['--webhooks-allow-private-targets', '127.0.0.0/8'],
  ...['--plugin-dir', pluginDir],
];
const server = await startServerProcess({ dataDir, flags: FLAGS });
const browser = await chromium.launch({
  executablePath: process.env.PLINTH_CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const anonymous = new HttpClient(server.url);
  const token = await anonymous.createAdminToken();
  const { text: lines } = await anonymous.call('GET', '/console/sample-weather.lp');
  await anonymous.withToken(token).write('sample', lines, 'second');
  await processSomething(anonymous.withToken(token));
  await deliverSomething(anonymous.withToken(token));
  fs.mkdirSync(folder, { recursive: true });
  if (words.length === 0 || words.includes('server')) await beBusy(anonymous.withToken(token));
  for (const theme of ['light', 'dark']) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: theme,
      reducedMotion: 'reduce',
    });
    await context.addInitScript(`sessionStorage.setItem('plinth-token', ${JSON.stringify(token)})`);
    for (const [name, [address, there]] of Object.entries(PAGES)) {
      if (words.length > 0 && !words.includes(name)) continue;
      const page = await context.newPage();
      await page.goto(`${server.url}/console/${address}`);
      await page.locator(there).first().waitFor({ timeout: 60_000 });
      await page.waitForTimeout(500); // for what is drawn after it is there
      await page.screenshot({ path: path.join(folder, `${name}-${theme}.png`) });
      await page.close();
    }
    await context.close();
  }
} finally {
  await browser.close();
  await server.stop();
  receiver.close();
  for (const each of [dataDir, pluginDir]) fs.rmSync(each, { recursive: true, force: true });
}

/** Caches of the sample data, and a trigger that has run. */
async function processSomething(client) {
  const configure = async (what, body) => {
    const { status, text } = await client.call('POST', `/api/v3/configure/${what}`, {
      body: JSON.stringify({ db: 'sample', ...body }),
      headers: { 'content-type': 'application/json' },
    });
    if (status >= 300) throw new Error(`${what}: ${status} ${text}`);
  };
  await configure('last_cache', { table: 'weather', key_columns: ['location'] });
  await configure('distinct_cache', { table: 'weather', columns: ['location'] });
  fs.writeFileSync(
    path.join(pluginDir, 'warmest.py'),
    'def process_scheduled_call(influxdb3_local, call_time, args=None):\n' +
      '    rows = influxdb3_local.query("SELECT location, max(temp_max) AS most FROM weather GROUP BY location")\n' +
      '    for row in rows:\n' +
      "        influxdb3_local.info(f\"{row['location']}: {row['most']} °C at most\")\n",
  );
  await configure('processing_engine_trigger', {
    trigger_name: 'warmest',
    plugin_filename: 'warmest.py',
    trigger_specification: 'every:10s',
    trigger_settings: { run_async: false, error_behavior: 'log' },
    disabled: false,
  });
}

/** An app with deliveries, one of which fails. */
async function deliverSomething(client) {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${receiver.address().port}/hook`;
  await client.call('POST', '/ops/v1/apps', {
    body: JSON.stringify({ name: 'ci', webhook: { url, events: ['push', 'issues'] } }),
    headers,
  });
  for (const [event, payload] of [
    ['push', { ref: 'refs/heads/main', commits: [] }],
    ['issues', { action: 'opened', issue: { number: 7 } }],
    ['push', { ref: 'refs/heads/next', commits: [] }],
  ]) {
    const body = JSON.stringify({ event, payload, app_id: 1 });
    const { status, text } = await client.call('POST', '/ops/v1/events', { body, headers });
    if (status >= 300) throw new Error(`event: ${status} ${text}`);
  }
}

async function beBusy(client) {
  const endMs = performance.now() + MEASURED_MS;
  for (let turn = 0; performance.now() < endMs; turn++) {
    const lines = Array.from(
      { length: 50 + 40 * (turn % 7) },
      (_, i) => `cpu,host=h${i} usage=${i}`,
    );
    await client.write('busy', lines.join('\n'), 'nanosecond');
    if (turn % 3 === 0) await client.query('busy', 'SELECT avg(usage) FROM cpu');
    await new Promise((resolve) => setTimeout(resolve, 60 + 30 * (turn % 5)));
  }
}
