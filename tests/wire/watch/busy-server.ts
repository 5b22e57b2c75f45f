import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccountsServer,
  EventReceiver,
  KEYS,
  ServerInProcess,
  WebhookApp,
  WebhookReceiver,
  write,
} from '../../harness/index.js';

const EDITOR = 'editor-token-for-tests';
const JSON_TYPE = { 'content-type': 'application/json' };
const LOOPBACK = '127.0.0.0/8';
const PATIENCE_MS = 90_000;

/** A sample from the metrics page. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A server with all services that has carried out every operation once, so that every metric exists. */
export class BusyServer implements AsyncDisposable {
  readonly process: ServerInProcess;
  readonly #receivers: readonly (EventReceiver | WebhookReceiver)[];

  static async start(flags: readonly string[] = [], dataDir?: string): Promise<BusyServer> {
    const process = await ServerInProcess.start({
      flags: [
        '--without-auth',
        ...[`--webhooks-allow-private-targets=${LOOPBACK}`],
        ...[`--accounts-allow-private-targets=${LOOPBACK}`],
        ...['--rate-limit-resources', '{"core":{"limit":1,"anonymous_limit":1}}'],
        ...['--tsdb-buffer-flush-age-ms', '400'],
        ...['--tsdb-internal-metrics-interval-ms', '300'],
        ...flags,
      ],
      env: {
        PLINTH_GAMEDATA_ADMIN_TOKEN: EDITOR,
        PLINTH_ACCOUNTS_BOOTSTRAP_KEYS: Object.values(KEYS).join(','),
      },
      ...(dataDir !== undefined && { dataDir }),
    });
    const hooks = await WebhookReceiver.start();
    const events = await EventReceiver.start();
    const server = new BusyServer(process, [hooks, events]);
    try {
      await server.work({ hooks: hooks.url, events: events.url });
      return server;
    } catch (error) {
      await server.close();
      throw error;
    }
  }

  private constructor(
    process: ServerInProcess,
    receivers: readonly (EventReceiver | WebhookReceiver)[],
  ) {
    this.process = process;
    this.#receivers = receivers;
  }

  /** The lines of the page that are not comments. */
  async samples(): Promise<readonly Sample[]> {
    const { status, text } = await this.process.http.send('/metrics');
    assert.equal(status, 200, text);
    return text.split('\n').flatMap((line) => {
      const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (found === null) return [];
      const [, name = '', labels = '', value] = found;
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
      return [
        {
          name,
          labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])),
          value: Number(value === '+Inf' ? Number.POSITIVE_INFINITY : value),
        },
      ];
    });
  }

  /** Returns the samples as soon as they meet the condition. */
  async until(
    what: string,
    isWanted: (samples: readonly Sample[]) => boolean,
  ): Promise<readonly Sample[]> {
    for (const endMs = Date.now() + PATIENCE_MS; ; ) {
      const samples = await this.samples();
      if (isWanted(samples)) return samples;
      assert.ok(Date.now() < endMs, `${what}: ${JSON.stringify(samples)}`);
      await sleep(200);
    }
  }

  async work(targets: { readonly hooks: string; readonly events: string }): Promise<void> {
    const { http } = this.process;
    await write(this.process, { db: 'd' }, 'm,host=a v=1 1\nm,host=b v=2 2');
    const bad = await http.send('/api/v3/write_lp?db=d', { body: 'no line' });
    assert.equal(bad.status, 400, bad.text);
    for (const [q, status] of [
      ['SELECT * FROM m', 200],
      ['SELECT * FROM nowhere', 400],
    ] as const) {
      const response = await http.send(`/api/v3/query_sql?db=d&q=${encodeURIComponent(q)}`);
      assert.equal(response.status >= 400, status >= 400, response.text);
    }
    const unknown = await http.send('/v2/core/accounts', {
      headers: { authorization: 'Bearer x' },
    });
    assert.equal(unknown.status, 401, unknown.text);

    const edit = async (path: string, body?: object) => {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${EDITOR}` };
      const text = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await http.send(`/api/editor/${path}`, { method: 'POST', headers, ...text });
      assert.equal(response.status, 200, response.text);
    };
    await edit('items', { id: 'thing-1', name: 'A made thing', category: 'barter' });
    await edit('save/items');
    assert.equal((await http.send('/api/items/thing-1')).status, 200);

    for (let turn = 0; turn < 2; turn += 1) {
      const question = { body: '{"identity":"user:77"}', headers: JSON_TYPE };
      assert.equal((await http.send('/ops/v1/rate-limits/check', question)).status, 200);
    }

    const app = await WebhookApp.register(this.process, { url: targets.hooks, events: ['*'] });
    await app.publish('probe');

    const accounts = new AccountsServer(this.process);
    const call = { body: { display_name: 'First' }, idempotencyKey: randomUUID() };
    await accounts.ok('/v2/core/accounts', call);
    await accounts.ok('/v2/core/accounts', call);
    const { id } = await accounts.ok('/v2/core/event_destinations', {
      body: {
        name: 'Target',
        type: 'webhook_endpoint',
        event_payload: 'thin',
        enabled_events: ['v2.core.account.closed'],
        webhook_endpoint: { url: targets.events },
      },
    });
    await accounts.ok(`/v2/core/event_destinations/${id}/ping`, { body: {} });
    const isThere = (samples: readonly Sample[], name: string) =>
      samples.some((sample) => sample.name === name);
    await this.until('what comes a little later', (samples) =>
      [
        'webhook_attempts_total',
        'accounts_event_attempts_total',
        'accounts_persons',
        'plinth_tsdb_flush_duration_seconds_count',
        'plinth_outbox_lag_seconds',
      ].every((name) => isThere(samples, name)),
    );
  }

  async close(): Promise<void> {
    await this.process.close();
    for (const receiver of this.#receivers) await receiver.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
