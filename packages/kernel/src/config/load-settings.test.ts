import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { listSettings } from './list-settings.js';
import {
  ConfigInvalid,
  loadSettings,
  type SettingsSources,
  settingOrigins,
} from './load-settings.js';
import { defineSettings } from './section.js';
import { parseDurationMs, parseSizeBytes } from './units.js';

const SECTIONS = {
  tsdb: defineSettings(
    'tsdb',
    {
      wal_flush_interval_ms: Type.Integer({ default: 1000, minimum: 1 }),
      max_request_size_bytes: Type.Integer({ default: 10_485_760 }),
      compat: Type.Union([Type.Literal('documented'), Type.Literal('influxdb3')], {
        default: 'documented',
      }),
      without_auth: Type.Boolean({ default: false }),
      open_paths: Type.Array(Type.Union([Type.Literal('health'), Type.Literal('ping')]), {
        default: [],
      }),
      retry_after: Type.Array(Type.Number({ minimum: 0, maximum: 9 }), { default: [] }),
      node_id: Type.Optional(Type.String()),
    },
    {
      wal_flush_interval_ms: {
        flags: ['wal-flush-interval'],
        env: ['INFLUXDB3_WAL_FLUSH_INTERVAL'],
      },
      without_auth: { flags: ['without-auth'] },
    },
  ),
};

const load = (from: { flags?: [string, string][]; env?: SettingsSources['env']; file?: unknown }) =>
  loadSettings(SECTIONS, { flags: new Map(from.flags), env: from.env ?? {}, file: from.file }).tsdb;

const problems = (from: Parameters<typeof load>[0]): readonly string[] => {
  try {
    load(from);
  } catch (error) {
    assert.ok(error instanceof ConfigInvalid);
    return error.problems;
  }
  return [];
};

describe('loadSettings', () => {
  it('applies defaults, omits settings without one, and freezes the result', () => {
    const tsdb = load({});
    assert.deepEqual(tsdb, {
      wal_flush_interval_ms: 1000,
      max_request_size_bytes: 10_485_760,
      compat: 'documented',
      without_auth: false,
      open_paths: [],
      retry_after: [],
    });
    assert.ok(Object.isFrozen(tsdb));
  });

  it('reads flags before variables before the file', () => {
    const file = { tsdb: { wal_flush_interval_ms: 5, node_id: 'f' }, 'tsdb.compat': 'influxdb3' };
    const env = { PLINTH_TSDB_WAL_FLUSH_INTERVAL_MS: '6', PLINTH_TSDB_NODE_ID: 'e' };
    const tsdb = load({ file, env, flags: [['tsdb-wal-flush-interval-ms', '7']] });
    assert.deepEqual(
      [tsdb.wal_flush_interval_ms, tsdb.node_id, tsdb.compat],
      [7, 'e', 'influxdb3'],
    );
  });

  it('accepts aliases of InfluxDB, durations, sizes and lists', () => {
    const tsdb = load({
      env: { INFLUXDB3_WAL_FLUSH_INTERVAL: '2s', INFLUXDB3_SOMETHING_ELSE: 'x' },
      flags: [
        ['without-auth', 'true'],
        ['tsdb-max-request-size-bytes', '1mb'],
        ['tsdb-open-paths', 'health, ping'],
      ],
    });
    assert.equal(tsdb.wal_flush_interval_ms, 2000);
    assert.equal(tsdb.max_request_size_bytes, 1_048_576);
    assert.equal(tsdb.without_auth, true);
    assert.deepEqual(tsdb.open_paths, ['health', 'ping']);
  });

  it('reads lists of numbers from text and from the file, and checks their range', () => {
    const given = (retry_after: unknown) => load({ file: { tsdb: { retry_after } } }).retry_after;
    assert.deepEqual(given([0, '0.5', 9]), [0, 0.5, 9]);
    assert.deepEqual(given('1, 2'), [1, 2]);
    assert.deepEqual(problems({ flags: [['tsdb-retry-after', '1,10']] }), [
      '--tsdb-retry-after: expected list of numbers, 0 to 9, got "1,10"',
    ]);
    for (const wrong of ['1,-1', '1;2', 'soon']) {
      assert.equal(problems({ flags: [['tsdb-retry-after', wrong]] }).length, 1, wrong);
    }
  });

  it('lists every problem, not only the first', () => {
    const found = problems({
      file: { tsdb: { compat: 'x', typo: 1, comapt: 'x' } },
      env: {
        INFLUXDB3_WAL_FLUSH_INTERVAL: 'soon',
        PLINTH_TSDB_TYPO: '1',
        PLINTH_TSBD_NODE_ID: '1',
        PLINTH_TSDB_WAL_FLSH_INTERVALL_MS: '1',
        PLINTH_WITHOUT_AUTH: '1',
        PLINTH_TSDB_: '1',
        PLINTH_: '1',
        // Variables of clients, of Kubernetes and of other programs.
        PLINTH_HOST_URL: 'x',
        PLINTH_TOKEN: 'x',
        PLINTH_TLS_CA: 'x',
        PLINTH_PORT_8181_TCP_ADDR: 'x',
        PLINTH_POSTGRES_SERVICE_PORT_SQL: '5432',
        PLINTH_POSTGRES_PORT: 'tcp://10.0.0.7:5432',
        OTHER: '1',
      },
      flags: [
        ['tsdb-open-paths', 'health,x'],
        ['nonsense', '1'],
        ['without-auht', '1'],
      ],
    });
    assert.deepEqual(found, [
      'INFLUXDB3_WAL_FLUSH_INTERVAL: expected duration (bare number: milliseconds), at least 1, got "soon"',
      'tsdb.compat: expected one of `documented`, `influxdb3`, got "x"',
      '--tsdb-open-paths: expected list of `health`, `ping`, got "health,x"',
      'tsdb.typo: no such setting',
      'tsdb.comapt: no such setting; did you mean tsdb.compat?',
      'PLINTH_TSDB_TYPO: no such setting',
      'PLINTH_TSBD_NODE_ID: no such setting; did you mean PLINTH_TSDB_NODE_ID?',
      'PLINTH_TSDB_WAL_FLSH_INTERVALL_MS: no such setting; did you mean PLINTH_TSDB_WAL_FLUSH_INTERVAL_MS?',
      'PLINTH_WITHOUT_AUTH: no such setting; did you mean PLINTH_TSDB_WITHOUT_AUTH?',
      'PLINTH_TSDB_: no such setting',
      'PLINTH_: no such setting',
      '--nonsense: no such setting',
      '--without-auht: no such setting; did you mean --without-auth?',
    ]);
  });

  it('reports the origin of each value', () => {
    const sources = {
      file: { tsdb: { compat: 'influxdb3', node_id: 'f', max_request_size_bytes: '1mb' } },
      env: { PLINTH_TSDB_NODE_ID: 'e', INFLUXDB3_WAL_FLUSH_INTERVAL: '2s' },
      flags: new Map([
        ['without-auth', 'true'],
        ['tsdb-max-request-size-bytes', '2mb'],
      ]),
    };
    assert.deepEqual(Object.fromEntries(settingOrigins(SECTIONS, sources)), {
      'tsdb.wal_flush_interval_ms': 'INFLUXDB3_WAL_FLUSH_INTERVAL',
      'tsdb.max_request_size_bytes': '--tsdb-max-request-size-bytes',
      'tsdb.compat': 'tsdb.compat',
      'tsdb.without_auth': '--without-auth',
      'tsdb.node_id': 'PLINTH_TSDB_NODE_ID',
    });
    const empty = { env: { PLINTH_TSDB_NODE_ID: '' }, flags: new Map() };
    assert.equal(settingOrigins(SECTIONS, empty).size, 0, 'set to nothing is not set');
  });

  it('hides logins in URLs, including malformed ones', () => {
    for (const address of ['ftp://me:hunter22@h/x', 'x://me:hun/ter22@h', 'x://me:hunt@er22@h']) {
      const [problem] = problems({ flags: [['tsdb-compat', address]] });
      assert.match(String(problem), /got "\w+:\/\/\*\*\*@h/);
      assert.doesNotMatch(String(problem), /me:|hun|er22/);
      const shown = listSettings({ tsdb: SECTIONS.tsdb }, { tsdb: { node_id: address } });
      assert.match(
        String(shown.find(({ name }) => name === 'tsdb.node_id')?.value),
        /^\w+:\/\/\*\*\*@h/,
      );
    }
  });

  it('rejects two aliases of one setting with different values', () => {
    const flags: [string, string][] = [
      ['wal-flush-interval', '1s'],
      ['tsdb-wal-flush-interval-ms', '2000'],
    ];
    assert.deepEqual(problems({ flags }), [
      '--tsdb-wal-flush-interval-ms and --wal-flush-interval are the same setting with different values',
    ]);
    assert.deepEqual(
      problems({
        flags: [
          ['wal-flush-interval', '2s'],
          ['tsdb-wal-flush-interval-ms', '2000'],
        ],
      }),
      [],
    );
  });
});

it('parses durations and sizes, and rejects similar text', () => {
  const duration = (text: string, ms: number | undefined) =>
    assert.equal(parseDurationMs(text), ms, text);
  duration('500ms', 500);
  duration('1.5s', 1500);
  duration('1h30m', 5_400_000);
  duration('7d', 604_800_000);
  duration('1 fortnight', undefined);
  duration('10', undefined);
  duration('-1s', undefined);
  const size = (text: string, bytes: number | undefined) =>
    assert.equal(parseSizeBytes(text), bytes, text);
  size('10mb', 10_485_760);
  size('1 GiB', 1_073_741_824);
  size('512b', 512);
  size('1tb', undefined);
  size('0.3b', undefined);
});
