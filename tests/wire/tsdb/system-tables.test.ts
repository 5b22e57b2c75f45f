// Source: tsdb-http, "System tables and information_schema", "SQL SHOW and catalog" and "Tokens"; query-languages, "SQL schema
// views". Own process: only its own queries may be listed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  assertError,
  assertJson,
  FLUSH_AT_ONCE,
  query,
  rows,
  ServerInProcess,
  ServerProcess,
  untilInFiles,
  write,
} from '../../harness/index.js';

let server: ServerProcess;
before(async () => {
  // The tables of the metrics would be listed, too.
  server = await ServerProcess.start({
    flags: ['--without-auth', '--tsdb-internal-metrics-interval-ms=0'],
  });
  const body = [
    'cpu,host=a,dc=x f=1,i=1i,u=1u,b=t,s="x" 1000000001',
    'cpu,host=b,dc=x f=2 5',
    'mem f=1 1',
  ].join('\n');
  assertEmpty(await write(server, { db: 'y01' }, body));
});
after(async () => await server.close());

type Row = Readonly<Record<string, unknown>>;
const ask = async (q: string, db = 'y01') => (await rows(server, db, q)) as readonly Row[];

const EVERYWHERE: Readonly<Record<string, readonly string[]>> = {
  continuous_queries: [
    'database Utf8',
    'name Utf8',
    'language Utf8',
    'query Utf8',
    'target Utf8',
    'run_every Utf8',
    'run_for Utf8',
    'position Timestamp(Nanosecond, None)',
    'last_run Timestamp(Nanosecond, None)',
    'last_duration Duration(Nanosecond)',
    'last_error Utf8',
    'rows_written UInt64',
  ],
  distinct_caches: [
    'table Utf8',
    'name Utf8',
    'column_ids List UInt16',
    'column_names List Utf8',
    'max_cardinality UInt64',
    'max_age_seconds UInt64',
  ],
  influxdb_schema: ['measurement Utf8', 'key Utf8', 'data_type Utf8'],
  last_caches: [
    'table Utf8',
    'name Utf8',
    'key_column_ids List UInt16',
    'key_column_names List Utf8',
    'value_column_ids List UInt16',
    'value_column_names List Utf8',
    'count UInt64',
    'ttl UInt64',
  ],
  parquet_files: [
    'table_name Utf8',
    'path Utf8',
    'size_bytes UInt64',
    'row_count UInt64',
    'min_time Int64',
    'max_time Int64',
  ],
  processing_engine_logs: [
    'event_time Timestamp(Nanosecond, None)',
    'trigger_name Utf8',
    'log_level Utf8',
    'log_text Utf8',
  ],
  processing_engine_trigger_arguments: [
    'trigger_name Utf8',
    'argument_key Utf8',
    'argument_value Utf8',
  ],
  processing_engine_triggers: [
    'trigger_name Utf8',
    'plugin_filename Utf8',
    'trigger_specification Utf8',
    'disabled Boolean',
    'error_behavior Utf8',
  ],
  published_tables: [
    'table_name Utf8',
    'namespace Utf8',
    'format_version Int64',
    'state Utf8',
    'reason Utf8',
    'version Int64',
    'published_time Timestamp(Millisecond, None)',
    'fresh_through Utf8',
    'merged_through Utf8',
    'file_count UInt64',
    'row_count UInt64',
    'size_bytes UInt64',
    'absent_columns Utf8',
    'location Utf8',
  ],
  queries: [
    'id Utf8',
    'phase Utf8',
    'issue_time Timestamp(Nanosecond, None)',
    'query_type Utf8',
    'query_text Utf8',
    'partitions Int64',
    'parquet_files Int64',
    'plan_duration Duration(Nanosecond)',
    'permit_duration Duration(Nanosecond)',
    'execute_duration Duration(Nanosecond)',
    'end2end_duration Duration(Nanosecond)',
    'compute_duration Duration(Nanosecond)',
    'max_memory Int64',
    'success Boolean',
    'running Boolean',
    'cancelled Boolean',
    'trace_id Utf8',
  ],
  refused_writes: [
    'time Timestamp(Nanosecond, None)',
    'database Utf8',
    'protocol Utf8',
    'reason Utf8',
    'line_number UInt64',
    'line Utf8',
    'message Utf8',
    'sender Utf8',
    'address Utf8',
  ],
};

const ONLY_INTERNAL: Readonly<Record<string, readonly string[]>> = {
  audit: [
    'time Timestamp(Millisecond, None)',
    'who Utf8',
    'address Utf8',
    'action Utf8',
    'target Utf8',
    'result Utf8',
  ],
  databases: [
    'database_name Utf8',
    'retention_period_ns UInt64',
    'deleted Boolean',
    'hard_deletion_time Timestamp(Second, Some("UTC"))',
  ],
  generation_durations: ['level UInt8', 'duration_seconds UInt64'],
  nodes: [
    'node_id Utf8',
    'node_catalog_id UInt32',
    'instance_id Utf8',
    'mode List Utf8',
    'core_count UInt64',
    'state Utf8',
    'updated_at Timestamp(Millisecond, None)',
    'cli_params Utf8',
  ],
  plugin_files: [
    'plugin_name Utf8',
    'file_name Utf8',
    'file_path Utf8',
    'size_bytes Int64',
    'last_modified Int64',
  ],
  tables: [
    'database_name Utf8',
    'table_name Utf8',
    'column_count UInt64',
    'series_key_columns Utf8',
    'last_cache_count UInt64',
    'distinct_cache_count UInt64',
    'deleted Boolean',
    'hard_deletion_time Timestamp(Second, Some("UTC"))',
  ],
  // Without the column `hash`: this server requires no token.
  tokens: [
    'token_id UInt64',
    'name Utf8',
    'created_at Timestamp(Millisecond, None)',
    'description Utf8',
    'created_by_token_id UInt64',
    'updated_at Timestamp(Millisecond, None)',
    'updated_by_token_id UInt64',
    'expiry Timestamp(Millisecond, None)',
    'permissions Utf8',
    'last_used_at Timestamp(Millisecond, None)',
  ],
};

const VIEWS = ['tables', 'views', 'columns', 'df_settings', 'schemata', 'routines', 'parameters'];

describe('the schema system', () => {
  /** Shortens a list type to `List` and its element type, without DuckDB's other details. */
  const shortType = (type: unknown) =>
    String(type).replace(/^List\(.*data_type: (\w+),.*$/, 'List $1');

  async function assertTables(db: string, tables: typeof EVERYWHERE): Promise<void> {
    for (const [name, columns] of Object.entries(tables)) {
      const described = await ask(`DESCRIBE system.${name}`, db);
      const found = described.map((row) => `${row['column_name']} ${shortType(row['data_type'])}`);
      assert.deepEqual(found, columns, name);
      const [header] = (
        await query(server, { db, q: `SELECT * FROM system.${name}`, format: 'csv' })
      ).split('\n');
      assert.equal(header, columns.map((column) => column.split(' ')[0]).join(','), name);
    }
  }

  it('Y-01 has its tables and their columns in every database', async () => {
    await assertTables('y01', EVERYWHERE);
  });

  it('Y-01 has those of the whole server, too, in _internal', async () => {
    await assertTables('_internal', { ...EVERYWHERE, ...ONLY_INTERNAL });
  });

  it('Y-01 hides those of the whole server from every other database', async () => {
    for (const name of Object.keys(ONLY_INTERNAL)) {
      const q = encodeURIComponent(`SELECT * FROM system.${name}`);
      const response = await server.http.send(`/api/v3/query_sql?db=y01&q=${q}`);
      assertError(response, 400, `Error during planning: table 'public.system.${name}' not found`);
    }
  });

  it('Y-02 is listed between user tables and views', async () => {
    const listing = async (db: string) =>
      (await ask('SHOW TABLES', db)).map((row) => Object.values(row).join(' '));
    const expected = (userTables: readonly string[], system: readonly string[]) => [
      ...userTables.map((name) => `public iox ${name} BASE TABLE`),
      ...system.toSorted().map((name) => `public system ${name} BASE TABLE`),
      ...VIEWS.map((name) => `public information_schema ${name} VIEW`),
    ];
    const everywhere = Object.keys(EVERYWHERE);
    assert.deepEqual(await listing('y01'), expected(['cpu', 'mem'], everywhere));
    const internal = [...everywhere, ...Object.keys(ONLY_INTERNAL)];
    assert.deepEqual(await listing('_internal'), expected([], internal));
  });

  it('Y-02 has its columns in information_schema', async () => {
    const q =
      "SELECT column_name FROM information_schema.columns WHERE table_schema = 'system' AND " +
      "table_name = 'parquet_files' ORDER BY ordinal_position";
    assert.deepEqual(
      (await ask(q)).map((row) => row['column_name']),
      EVERYWHERE['parquet_files']?.map((column) => column.split(' ')[0]),
    );
  });
});

describe('what system tables tell', () => {
  it('Y-01 columns in the words of InfluxQL', async () => {
    const q = "SELECT key, data_type FROM system.influxdb_schema WHERE measurement = 'cpu'";
    assert.deepEqual(await ask(q), [
      { key: 'b', data_type: 'boolean' },
      { key: 'dc', data_type: 'tag' },
      { key: 'f', data_type: 'float' },
      { key: 'host', data_type: 'tag' },
      { key: 'i', data_type: 'integer' },
      { key: 's', data_type: 'string' },
      { key: 'time', data_type: 'time' },
      { key: 'u', data_type: 'uinteger' },
    ]);
  });

  it('Y-01 databases with their retention, and tables with their series key', async () => {
    assert.deepEqual(await ask('SELECT * FROM system.databases', '_internal'), [
      // Seven days.
      { database_name: '_internal', retention_period_ns: 604_800_000_000_000, deleted: false },
      { database_name: 'y01', deleted: false },
    ]);
    const noCaches = { last_cache_count: 0, distinct_cache_count: 0, deleted: false };
    const table = { database_name: 'y01', ...noCaches };
    assert.deepEqual(await ask('SELECT * FROM system.tables ORDER BY 1, 2', '_internal'), [
      { ...table, table_name: 'cpu', column_count: 8, series_key_columns: 'host, dc' },
      { ...table, table_name: 'mem', column_count: 2, series_key_columns: '' },
    ]);
  });

  it('Y-01 the node', async () => {
    const [node, ...others] = await ask('SELECT * FROM system.nodes', '_internal');
    assert.deepEqual(others, []);
    assert.equal(node?.['node_id'], 'node0');
    assert.deepEqual(node?.['mode'], ['core']);
    assert.equal(node?.['state'], 'running');
    assert.match(String(node?.['instance_id']), /^[0-9a-f]{8}-/);
    assert.match(String(node?.['updated_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?$/);
  });

  it('Y-01 files, once rows have left the memory', async () => {
    const first = await ServerInProcess.start();
    assertEmpty(await write(first, { db: 'files' }, 'cpu f=1 7\ncpu f=2 9\nmem f=1 1'));
    const q = 'SELECT * FROM system.parquet_files ORDER BY table_name';
    assert.deepEqual(await rows(first, 'files', q), []);
    await first.stop();
    const { dataDir } = first;
    const second = await ServerInProcess.start({
      dataDir,
      flags: ['--without-auth', ...FLUSH_AT_ONCE],
    });
    try {
      await untilInFiles(second);
      const [header = '', ...lines] = (
        await query(second, { db: 'files', q, format: 'csv' })
      ).split('\n');
      assert.equal(header, 'table_name,path,size_bytes,row_count,min_time,max_time');
      assert.match(lines[0] ?? '', /^cpu,tsdb\/[0-9a-f-]+\/[0-9a-f-]+\.parquet,[1-9]\d*,2,7,9$/);
      assert.match(lines[1] ?? '', /^mem,tsdb\/[0-9a-f-]+\/[0-9a-f-]+\.parquet,[1-9]\d*,1,1,1$/);
      await rows(second, 'files', 'SELECT f FROM cpu WHERE f = 3');
      const log = 'SELECT partitions, parquet_files FROM system.queries ORDER BY issue_time DESC';
      const [, previous] = (await rows(second, 'files', log)) as readonly Row[];
      assert.deepEqual(previous, { partitions: 1, parquet_files: 1 });
    } finally {
      await second.close();
      await first.close();
    }
  });
});

describe('system.queries', () => {
  const entry = async (text: string) => {
    const q = `SELECT * FROM system.queries WHERE query_text = '${text}'`;
    return (await ask(q, '_internal')).at(-1) ?? {};
  };
  const DURATION = /^0 days 0 hours \d+ mins \d+\.\d{9} secs$/;

  it('Y-01 shows a query that was answered, with its times', async () => {
    const text = 'SELECT f FROM cpu LIMIT 1';
    await ask(text);
    const shown = await entry(text);
    assert.match(String(shown['id']), /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    assert.match(String(shown['issue_time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/);
    assert.equal(shown['query_type'], 'sql');
    for (const step of ['plan', 'permit', 'execute', 'end2end', 'compute']) {
      assert.match(String(shown[`${step}_duration`]), DURATION);
    }
    const { phase, success, running, cancelled } = shown;
    assert.deepEqual(
      { phase, success, running, cancelled },
      { phase: 'success', success: true, running: false, cancelled: false },
    );
  });

  it('Y-01 shows a query that failed, with the times that it has', async () => {
    const text = 'SELECT nothing FROM cpu';
    const response = await server.http.send(
      `/api/v3/query_sql?db=y01&q=${encodeURIComponent(text)}`,
    );
    assert.equal(response.status, 400);
    const shown = await entry(text);
    assert.equal(shown['phase'], 'fail');
    assert.equal(shown['success'], false);
    assert.equal(shown['running'], false);
    assert.match(String(shown['end2end_duration']), DURATION);
    assert.ok(!('execute_duration' in shown));
  });

  it('Y-01 shows itself as running', async () => {
    const text = 'SELECT phase, running, success FROM system.queries WHERE running';
    assert.deepEqual(await ask(text), [{ phase: 'received', running: true, success: false }]);
  });

  it('Y-01 shows a query that runs, and that it was canceled when its client went away', async () => {
    const text =
      'SELECT count(*) FROM generate_series(1, 10000000) a CROSS JOIN generate_series(1, 10000000) b';
    const client = new AbortController();
    const url = `${server.url}/api/v3/query_sql?db=y01&q=${encodeURIComponent(text)}`;
    const response = fetch(url, { signal: client.signal }).catch(() => 'gone');
    const until = async (phase: string) => {
      for (;;) {
        const shown = await entry(text);
        if (shown['phase'] === phase) return shown;
      }
    };
    assert.equal((await until('execution_permit'))['running'], true);
    client.abort();
    assert.equal(await response, 'gone');
    const shown = await until('cancel');
    assert.deepEqual(
      [shown['cancelled'], shown['running'], shown['success']],
      [true, false, false],
    );
  });
});

describe('system.tokens', () => {
  it('Y-01, K-01 lists tokens and nothing secret', async () => {
    await using secured = await ServerInProcess.start({ flags: [] });
    const post = async (path: string, token?: string, body?: unknown) => {
      const response = await secured.http.send(`/api/v3/configure/token/${path}`, {
        method: 'POST',
        ...(body !== undefined && { body: JSON.stringify(body) }),
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      });
      assert.equal(response.status, 201, response.text);
      return JSON.parse(response.text) as Readonly<Record<string, string>>;
    };
    const admin = await post('admin');
    const named = await post('named_admin', admin['token'], { token_name: 'ci', expiry_secs: 60 });
    const q = encodeURIComponent('SELECT * FROM system.tokens');
    const response = await secured.http.send(`/api/v3/query_sql?db=_internal&format=csv&q=${q}`, {
      headers: { authorization: `Bearer ${admin['token']}` },
    });
    const time = (text = '') => text.replace('Z', '').replace(/\.000$/, '');
    const [, usedAt = ''] = /,([^,\n]+)$/m.exec(response.text.split('\n')[1] ?? '') ?? [];
    const ageMs = Date.now() - Date.parse(`${usedAt}Z`);
    assert.ok(ageMs >= 0 && ageMs < 60_000, usedAt);
    const row = (id: number, token: typeof admin, by: string, used: string) =>
      [
        id,
        token['name'],
        token['hash']?.slice(0, 9),
        time(token['created_at']),
        '',
        by,
        '',
        '',
        time(token['expiry'] ?? ''),
        '*:*:*',
        used,
      ].join(',');
    assert.equal(
      response.text,
      'token_id,name,hash,created_at,description,created_by_token_id,updated_at,updated_by_token_id,expiry,permissions,last_used_at\n' +
        `${row(0, admin, '', usedAt)}\n${row(1, named, '0', '')}\n`,
    );
    for (const secret of [admin['token'], named['token'], admin['hash'], named['hash']]) {
      assert.ok(!response.text.includes(secret ?? ''));
    }
    const anonymous = await secured.http.send(`/api/v3/query_sql?db=_internal&q=${q}`);
    assert.equal(anonymous.status, 401);
  });
});

describe('GET /api/v3/configure/database', () => {
  const list = async (parameters = '') =>
    await server.http.send(`/api/v3/configure/database${parameters}`);
  const ACTIVE = [{ 'iox::database': '_internal' }, { 'iox::database': 'y01' }];

  it('D-01 lists databases by name as rows, whatever the shape of other answers', async () => {
    assertJson(await list(), 200, ACTIVE);
    assertJson(await list('?format=json'), 200, ACTIVE);
    assertJson(await list('?format=json&show_deleted=false'), 200, ACTIVE);
  });

  it('D-01 tells with show_deleted which ones are deleted', async () => {
    const expected = ACTIVE.map((row) => ({ ...row, deleted: false }));
    for (const yes of ['true', '1', 'T']) {
      assertJson(await list(`?show_deleted=${yes}`), 200, expected);
    }
  });

  it('D-01 answers in every format', async () => {
    const check = async (format: string, type: string, text: string) => {
      const response = await list(`?format=${format}`);
      assert.equal(response.headers['content-type'], type);
      assert.equal(response.text, text);
    };
    await check('csv', 'text/csv', 'iox::database\n_internal\ny01\n');
    const lines = ACTIVE.map((row) => `${JSON.stringify(row)}\n`).join('');
    await check('jsonl', 'application/jsonl', lines);
    await check('json_lines', 'application/jsonl', lines);
    const table = [
      '+---------------+',
      '| iox::database |',
      '+---------------+',
      '| _internal     |',
      '| y01           |',
      '+---------------+',
      '',
    ];
    await check('pretty', 'text/plain; charset=utf-8', table.join('\n'));
    const parquet = await list('?format=parquet');
    assert.equal(parquet.headers['content-type'], 'application/vnd.apache.parquet');
    assert.equal(parquet.bytes.subarray(-4).toString(), 'PAR1');
  });

  it('D-01 refuses what it does not understand', async () => {
    assertError(
      await list('?format=foo'),
      400,
      'serde error: unknown variant `foo`, expected one of `parquet`, `csv`, `pretty`, `json`, `jsonl`',
    );
    assertError(
      await list('?show_deleted=maybe'),
      400,
      'serde error: provided string was not `true` or `false`',
    );
  });
});
