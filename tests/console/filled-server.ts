// A server that has something to show on each page of the console, and the addresses of these pages.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServerInProcess, until, WITH_SAMPLE_DATA } from '../harness/index.js';

const LINE = new URLSearchParams({
  ...{ db: 'sample', lang: 'sql', view: 'line', from: '2020-01-01', to: '2020-01-02' },
  q: 'SELECT time, host, v FROM m ORDER BY time',
});
const TABLE = `explore?${LINE}&view=table`.replace('view=line&', '');

/**
 * Each path with an element that must exist before a check. `FilledServer.address` replaces the words in capitals.
 * A test compares the paths with the routes of the console.
 */
export const PAGES: readonly (readonly [path: string, there: string])[] = [
  ['', '.problems li'],
  [`explore?${LINE}`, 'canvas'],
  [TABLE, '[role=gridcell]'],
  [`explore?${LINE}&view=stat`.replace('view=line&', ''), '.stat'],
  ['explore?db=sample&q=SELECT+nothing', '[role=alert]'],
  ['explore/SAVED', '[role=gridcell], canvas, .stat'],
  [`${TABLE}&sort=-v&hidden=["host"]`, '[aria-sort=descending]'],
  ['data', 'table'],
  ['data/sample', 'table'],
  ['data/sample/m', '[role=gridcell]'],
  ['storage?db=sample', 'dl'],
  ['storage?db=sample&table=m', '.file-strip'],
  ['caches', 'td'],
  ['triggers', 'td'],
  ['triggers/sample/hourly', '.code-editor-host:not([hidden])'],
  ['triggers/sample/hourly?tab=runs', 'h2'],
  ['triggers/sample/hourly?tab=log', 'h2'],
  ['triggers/sample/hourly?tab=settings', 'dl'],
  ['accounts', 'td'],
  ['accounts/keys', 'td'],
  ['accounts/clocks', 'td'],
  ['accounts/settings', 'form'],
  ['accounts/plat_default/ACCOUNT', 'td'],
  ['accounts/plat_default/ACCOUNT?tab=data', '.record-form'],
  ['accounts/plat_default/ACCOUNT?tab=persons', 'td'],
  ['accounts/plat_default/ACCOUNT?tab=events', 'td'],
  ['accounts/plat_default/ACCOUNT?tab=raw', 'pre'],
  ['webhooks?all=1', 'td'],
  ['webhooks/1', 'td'],
  ['webhooks/1?show=queued', 'p'],
  ['webhooks/1/DELIVERY', '.note.bad'],
  ['webhooks/1/DELIVERY?part=request', '.copy-box'],
  ['webhooks/1/DELIVERY?part=attempts', 'td'],
  ['webhooks/1/DELIVERY?part=details', 'dl'],
  ['webhooks/1/configuration', 'form'],
  ['webhooks/1/redrive', 'fieldset'],
  ['webhooks/1/publish', 'form'],
  ['limits', 'td'],
  ['limits?identity=ip:192.0.2.7', 'td'],
  ['limits/simulate?identity=user:7', 'form'],
  ['gamedata', 'td'],
  ['gamedata/items', 'td'],
  ['gamedata/items?create=1', 'form'],
  ['gamedata/items/RECORD', '.record-form'],
  ['gamedata/items/RECORD?tab=json', '.code-editor-host:not([hidden]), textarea'],
  ['gamedata/items/RECORD?tab=history', 'table, p'],
  ['gamedata/changes', 'td'],
  ['gamedata/versions', 'td'],
  ['gamedata/exchange', 'form, h2'],
  ['identities', 'td'],
  ['queries', 'td'],
  ['tokens', 'td'],
  ['users', '.empty'],
  ['server', '.panel'],
  ['server?tab=settings&all=1', 'td'],
  ['server?tab=logs', 'td'],
  ['nowhere', 'h1'],
];

const ACCOUNTS = '/ops/v1/as/platform/plat_default/test/v2/core/accounts';
const COMPANY = {
  display_name: 'Furever Ltd',
  contact_email: 'ann@example.com',
  identity: { country: 'gb', entity_type: 'company' },
  configuration: { merchant: { capabilities: { card_payments: { requested: true } } } },
  defaults: {
    currency: 'gbp',
    responsibilities: { fees_collector: 'stripe', losses_collector: 'stripe' },
  },
};
const PLUGIN = 'def process_scheduled_call(influxdb3_local, call_time, args=None):\n    pass\n';
const MERGE_PATCH = 'application/merge-patch+json';
const CLOCKS = '/ops/v1/as/platform/plat_default/test/v1/test_helpers/test_clocks';

type Json = Readonly<Record<string, unknown>>;

export class FilledServer {
  readonly token: string;
  readonly #server: ServerInProcess;
  readonly #plugins: string;
  readonly #ids = new Map<string, string>();

  static async start(): Promise<FilledServer> {
    const plugins = await mkdtemp(join(tmpdir(), 'plinth-console-plugins-'));
    const server = await ServerInProcess.start({
      flags: [
        ...['--services', 'tsdb,accounts,webhooks,ratelimit,gamedata'],
        ...['--plugin-dir', plugins],
      ],
      env: WITH_SAMPLE_DATA,
    });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const filled = new FilledServer(server, plugins, JSON.parse(made.text).token);
    await filled.#fill();
    return filled;
  }

  private constructor(server: ServerInProcess, plugins: string, token: string) {
    this.#server = server;
    this.#plugins = plugins;
    this.token = token;
  }

  get ids(): { account: string; event: string; guid: string; record: string; name: string } {
    const id = (name: string): string => this.#ids.get(name) ?? '';
    return {
      ...{ account: id('ACCOUNT'), event: id('EVENT') },
      ...{ guid: id('GUID'), record: id('RECORD'), name: id('NAME') },
    };
  }

  /** The address of a page of the console. */
  address(path: string): string {
    const own = path.replace(/[A-Z]{5,}/, (word) => this.#ids.get(word) ?? word);
    return `${this.#server.url}/console/${own}`;
  }

  async close(): Promise<void> {
    await this.#server.close();
    await rm(this.#plugins, { recursive: true });
  }

  async #send(
    path: string,
    body?: object | string,
    { method = body === undefined ? 'GET' : 'POST', type = 'application/json' } = {},
  ): Promise<Json> {
    const response = await this.#server.http.send(path, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': type },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    assert.ok(response.status < 300, `${path}: ${response.status} ${response.text}`);
    return response.text === '' ? {} : JSON.parse(response.text);
  }

  async #fill(): Promise<void> {
    await this.#fillDatabase();
    await this.#fillAccounts();
    await this.#fillWebhooks();
    await this.#fillLimits();
    const items = await this.#send('/api/editor/items?limit=1');
    const [{ id, name }] = items['data'] as readonly [{ id: string; name: string }];
    this.#ids.set('NAME', name);
    const change = JSON.stringify({ name: 'Renamed' });
    await this.#send(`/api/editor/items/${id}`, change, { method: 'PATCH', type: MERGE_PATCH });
    this.#ids.set('RECORD', id);
  }

  async #fillDatabase(): Promise<void> {
    const start = Date.parse('2020-01-01T00:00:00Z') / 1000;
    const lines = Array.from(
      { length: 48 },
      (_, i) => `m,host=h${i % 3} v=${i} ${start + i * 600}`,
    );
    await this.#send('/api/v3/write_lp?db=sample&precision=second', lines.join('\n'));
    await this.#send('/ops/v1/tsdb/storage/flush', {});
    const configure = (what: string, body: object) =>
      this.#send(`/api/v3/configure/${what}`, { db: 'sample', ...body });
    await configure('last_cache', { table: 'm', key_columns: ['host'] });
    await configure('distinct_cache', { table: 'm', columns: ['host'] });
    await writeFile(join(this.#plugins, 'hourly.py'), PLUGIN);
    await configure('processing_engine_trigger', {
      trigger_name: 'hourly',
      plugin_filename: 'hourly.py',
      trigger_specification: 'every:1h',
      trigger_settings: { run_async: false, error_behavior: 'log' },
      disabled: true,
    });
    const saved = await this.#send('/ops/v1/tsdb/saved-queries', {
      ...{ name: 'All', db: 'sample', lang: 'sql', text: 'SELECT * FROM m', folder: 'walls' },
    });
    this.#ids.set('SAVED', String(saved['id']));
  }

  async #fillAccounts(): Promise<void> {
    await this.#send('/ops/v1/accounts/platforms/plat_default/keys', {
      kind: 'secret',
      livemode: false,
    });
    const { id } = await this.#send(ACCOUNTS, COMPANY);
    await this.#send(`${ACCOUNTS}/${id}/persons`, { given_name: 'Jenny', surname: 'Rosen' });
    await this.#send(CLOCKS, { frozen_time: 1_800_000_000, name: 'Renewal' });
    this.#ids.set('ACCOUNT', String(id));
    const events = await this.#send(`${ACCOUNTS.replace('accounts', 'events')}?object_id=${id}`);
    this.#ids.set('EVENT', String((events['data'] as readonly Json[])[0]?.['id']));
  }

  /** Creates an app whose first delivery fails. */
  async #fillWebhooks(): Promise<void> {
    const webhook = { url: 'https://ci.invalid/hook', retry: { policy: 'standard' } };
    await this.#send('/ops/v1/apps', { name: 'ci', webhook });
    const deliveries = async () =>
      (await this.#send('/ops/v1/apps/1/deliveries')) as unknown as Json[];
    await until(async () => (await deliveries()).length > 0, 'the first delivery');
    const [first] = await deliveries();
    this.#ids.set('DELIVERY', String(first?.['id']));
    this.#ids.set('GUID', String(first?.['guid']));
  }

  async #fillLimits(): Promise<void> {
    const identity = 'ip:192.0.2.7';
    const check = (cost: number) => ({ identity, cost, points: 0 });
    await this.#send('/ops/v1/rate-limits/check-batch', [check(60), check(1), check(1)]);
    await this.#send('/ops/v1/rate-limits/bans', {
      ...{ identity: 'ip:198.51.100.4', duration_seconds: 3600 },
    });
    await this.#send('/ops/v1/identities', { kind: 'user', id: 7, login: 'mona' });
  }
}
