#!/usr/bin/env node
// npm run console:shots [-- word ...]: takes the screenshots of docs/console/, in both themes, from a temporary server with the
// sample data, reduced to 256 colors. Words select pages. Needs Chromium (PLINTH_CHROMIUM, or `chromium` on the path). Check each one before committing.
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
import { smallPng } from './lib/small-png.mjs';

await ensureBuiltOrExit();
const load = createRequire(path.join(root, 'tests', 'package.json'));
const { chromium } = load('playwright-core');

const RANGE = { from: '2012-01-01', to: '2016-01-01' };
const explore = (search) =>
  `explore?${new URLSearchParams({ db: 'sample', lang: 'sql', ...RANGE, ...search })}`;
const OVER_TIME = (field) =>
  `SELECT date_bin(\${interval}, time) AS time, location, avg(${field}) AS ${field}\nFROM weather\nWHERE time >= \${from} AND time < \${to}\nGROUP BY 1, location\nORDER BY 1`;

/** Two units, so that the chart has two axes. */
const TWO_UNITS = `SELECT date_bin(\${interval}, time) AS time,
  avg(process_resident_memory_bytes) AS memory_bytes, avg(nodejs_eventloop_lag_seconds) * 1000 AS lag_ms
FROM metrics
WHERE time >= \${from} AND time < \${to}
GROUP BY 1
ORDER BY 1`;
const NOW = { db: '_internal', from: 'now-1m', to: 'now' };

const CELL = '[role=gridcell]:has-text("rain")';

const CSV = {
  name: 'rooms.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from(
    'time,room,temp,co2,note\n2015-11-20T07:00:00Z,Kitchen,21.5,610,\n2015-11-20T08:00:00Z,Kitchen,22.1,655,\n' +
      '2015-11-20T08:00:00Z,Bedroom,18.9,480,"window, open"\nyesterday,Bedroom,19.2,470,\n',
  ),
};

/** Path of each page, the element to wait for, and then the elements to click, the option or the file to choose. */
const PAGES = {
  home: ['', '.problems li >> nth=2'],
  explore: [explore({ view: 'line', q: OVER_TIME('temp_max') }), 'canvas'],
  axes: [explore({ ...NOW, view: 'line', q: TWO_UNITS }), 'canvas'],
  rows: [explore({ view: 'table', q: 'SELECT * FROM weather ORDER BY time' }), '[role=gridcell]'],
  data: ['data', 'table'],
  table: ['data/sample/weather', '[role=gridcell]'],
  write: [
    'data/sample',
    'table',
    'button:text-is("Write")',
    'button:text-is("CSV file")',
    { file: 'input[type=file]', ...CSV },
  ],
  storage: ['storage?db=sample&table=weather', '.file-strip'],
  filter: [
    explore({ view: 'table', sort: '-temp_max', q: 'SELECT * FROM weather' }),
    CELL,
    CELL,
    CELL,
  ],
  caches: ['caches?db=sample', 'table'],
  triggers: ['triggers?db=sample', 'table >> nth=1'],
  trigger: [
    'triggers/sample/warmest',
    '.code-editor-host:not([hidden])',
    'button:text-is("Dry run")',
  ],
  apps: ['webhooks', '.chip.bad'],
  webhooks: ['webhooks/1?show=failed', 'table >> nth=0', 'tr.clickable >> nth=0'],
  configuration: [
    'webhooks/1/configuration',
    '.allowed',
    { select: '#retry-policy', value: 'standard' },
  ],
  redrive: ['webhooks/1/redrive', 'fieldset'],
  account: ['accounts/plat_default/ACCOUNT', 'table >> nth=1'],
  events: ['accounts/plat_default/ACCOUNT?tab=events', 'td'],
  clocks: ['accounts/clocks', 'td'],
  'account-data': ['accounts/plat_default/ACCOUNT?tab=data', '.record-form'],
  limits: ['limits', 'table >> nth=2'],
  caller: ['limits?identity=ip:192.0.2.17', 'table >> nth=3'],
  simulate: [
    `limits/simulate?${new URLSearchParams({ identity: 'user:7', route: 'PATCH /api/v3/app/hook/config' })}`,
    'button:text-is("Simulate"):enabled',
    'button:text-is("Simulate")',
  ],
  gamedata: ['gamedata?q=wren', 'table >> nth=1'],
  record: ['gamedata/items/RECORD', '.record-form'],
  identities: ['identities', 'h1'],
  queries: ['queries', 'table'],
  tokens: ['tokens', 'table'],
  server: ['server?from=now-1m', 'canvas'],
};
/** These pages need some measurements before their screenshots. */
const MEASURED = ['server', 'axes', 'home'];
const MEASURED_MS = 45_000;
/** Refuses every third delivery, and all at `/down`. */
let deliveryCount = 0;
const receiver = createServer((request, response) => {
  request.resume();
  const isRefused = request.url === '/down' || ++deliveryCount % 3 === 0;
  response.writeHead(isRefused ? 503 : 200).end(isRefused ? 'overloaded' : 'ok');
});
const words = process.argv.slice(2);
const folder = path.join(root, 'docs', 'console');
const dataDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-shots-'));
const pluginDir = fs.mkdtempSync(path.join(tmpdir(), 'plinth-shots-plugins-'));
const FLAGS = [
  ...[
    '--services',
    'tsdb,accounts,webhooks,ratelimit,gamedata',
    '--tsdb-internal-metrics-interval-ms',
    '1000',
  ],
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
  await writeInParts(anonymous.withToken(token), lines);
  await processSomething(anonymous.withToken(token));
  await deliverSomething(anonymous.withToken(token));
  await loadExample(anonymous.withToken(token));
  const record = await changeRecord(anonymous.withToken(token));
  const account = await createAccount(anonymous.withToken(token));
  fs.mkdirSync(folder, { recursive: true });
  if (words.length === 0 || words.some((word) => MEASURED.includes(word)))
    await beBusy(anonymous.withToken(token));
  for (const theme of ['light', 'dark']) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme: theme,
      reducedMotion: 'reduce',
    });
    await context.addInitScript(`sessionStorage.setItem('plinth-token', ${JSON.stringify(token)})`);
    for (const [name, [address, there, ...clicked]] of Object.entries(PAGES)) {
      if (words.length > 0 && !words.includes(name)) continue;
      const page = await context.newPage();
      await page.goto(
        `${server.url}/console/${address.replace('ACCOUNT', account).replace('RECORD', record)}`,
      );
      await page.locator(there).first().waitFor({ timeout: 60_000 });
      for (const each of clicked) {
        if (typeof each === 'string') await page.locator(each).first().click();
        else if ('select' in each) await page.locator(each.select).selectOption(each.value);
        else await page.locator(each.file).setInputFiles(each);
      }
      await page.waitForTimeout(500); // charts are drawn after their element appears
      const png = await page.screenshot();
      fs.writeFileSync(path.join(folder, `${name}-${theme}.png`), smallPng(png));
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

/** Changes a game data record in the draft, and returns its id. */
async function changeRecord(client) {
  const { text } = await client.call('GET', '/api/editor/items?limit=1');
  const [{ id, name }] = JSON.parse(text).data;
  const body = JSON.stringify({ name: `${name} (reworked)`, weight: 0.4 });
  await client.call('PATCH', `/api/editor/items/${id}`, {
    body,
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  return id;
}

/** Creates an account with missing data, and returns its id. */
async function createAccount(client) {
  const post = async (caller, address, body) => {
    const { status, text } = await caller.call('POST', address, {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    if (status >= 300) throw new Error(`${address}: ${status} ${text}`);
    return JSON.parse(text);
  };
  const key = await post(client, '/ops/v1/accounts/platforms/plat_default/keys', {
    kind: 'secret',
    livemode: false,
  });
  const { id } = await post(client.withToken(key.value), '/v2/core/accounts', {
    display_name: 'Furever Ltd',
    contact_email: 'ann@example.com',
    identity: { country: 'gb', entity_type: 'company' },
    configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
    defaults: {
      currency: 'gbp',
      responsibilities: { fees_collector: 'stripe', losses_collector: 'stripe' },
    },
  });
  const clocks = '/ops/v1/as/platform/plat_default/test/v1/test_helpers/test_clocks';
  await post(client, clocks, { name: 'Renewal', frozen_time: 1_800_000_000 });
  return id;
}

/** Creates several files that cover the same time range. */
async function writeInParts(client, text) {
  const lines = text.trim().split('\n');
  const partCount = 3;
  for (let part = 0; part < partCount; part++) {
    const own = lines.filter((_, index) => index % partCount === part);
    await client.write('sample', own.join('\n'), 'second');
    await client.call('POST', '/ops/v1/tsdb/storage/flush');
    for (let isDone = false; !isDone; ) {
      const { text: state } = await client.call('GET', '/ops/v1/tsdb/storage');
      isDone = JSON.parse(state).flush.running === null;
    }
  }
}

/** Creates caches on the sample data and a trigger that has run. */
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
  fs.writeFileSync(
    path.join(pluginDir, 'report.py'),
    'def process_scheduled_call(influxdb3_local, call_time, args=None):\n' +
      '    rows = influxdb3_local.query("SELECT count(*) AS days FROM weather WHERE precipitation > 1000")\n' +
      "    if rows[0]['days'] == 0:\n" +
      "        raise ValueError('no rain in the data')\n",
  );
  for (const [name, file] of [
    ['warmest', 'warmest.py'],
    ['nightly_report', 'report.py'],
  ]) {
    await configure('processing_engine_trigger', {
      trigger_name: name,
      plugin_filename: file,
      trigger_specification: 'every:10s',
      trigger_settings: { run_async: false, error_behavior: 'log' },
      disabled: false,
    });
  }
}

/** Creates an app with deliveries, one of which fails, and an app whose deliveries all fail. */
async function deliverSomething(client) {
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const headers = { 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${receiver.address().port}/hook`;
  const down = {
    url: url.replace('/hook', '/down'),
    events: ['invoice'],
    retry: { policy: 'standard' },
  };
  for (const [name, webhook] of [
    ['ci', { url, events: ['push', 'issues'] }],
    ['billing-sync', down],
  ])
    await client.call('POST', '/ops/v1/apps', { body: JSON.stringify({ name, webhook }), headers });
  for (let number = 1; number <= 6; number++) {
    const body = JSON.stringify({ event: 'invoice', action: 'paid', payload: { number } });
    await client.call('POST', '/ops/v1/events', { body, headers });
  }
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

/** Creates identities with used limits, one that exceeds its limit, and a banned one. */
async function loadExample(client) {
  const headers = { 'content-type': 'application/json' };
  const post = (path, body) =>
    client.call('POST', `/ops/v1/rate-limits/${path}`, { body: JSON.stringify(body), headers });
  for (const id of [7, 12]) {
    const body = JSON.stringify({ kind: 'user', id, login: id === 7 ? 'mona' : 'hubot' });
    const { status, text } = await client.call('POST', '/ops/v1/identities', { body, headers });
    if (status >= 300) throw new Error(`identity: ${status} ${text}`);
  }
  for (const [identity, cost] of [
    ['user:7', 412],
    ['user:12', 96],
    ['ip:192.0.2.17', 58],
  ])
    await post('check', { identity, resource: 'core', cost });
  for (let count = 0; count < 9; count++) await post('check', { identity: 'ip:192.0.2.17' });
  await post('bans', { identity: 'ip:198.51.100.4', duration_seconds: 3600 });
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
