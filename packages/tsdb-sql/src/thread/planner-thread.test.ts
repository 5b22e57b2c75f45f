import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import type {
  PlanContext,
  ScannedTable,
  VirtualTable,
} from '@plinth/tsdb-model/query/planned-query.js';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { MAIN_THREAD_LIMITS } from '../parse/planning-limits.js';
import { StatementPlanner } from '../statement-planner.js';
import { PlannerThread } from './planner-thread.js';

const kinds = { host: 'tag', time: 'time', usage: 'float64' } as const;
const cpu: TableSchema = {
  id: 1,
  uuid: 'cpu',
  databaseId: 1,
  name: 'cpu',
  columns: new Map(
    Object.entries(kinds).map(([name, kind], id) => [name, { id, name, kind, physicalName: name }]),
  ),
  seriesKey: ['host'],
  seriesSeed: 7n,
  version: 1,
};
const cached: ScannedTable = {
  table: { ...cpu, id: 2, name: 'cpu_cache' },
  source: { prepare: () => Promise.reject(new Error('not run here')) },
};
const queries: VirtualTable = {
  columns: [{ name: 'id', type: { kind: 'utf8' }, tableColumnKind: undefined }],
  otherNames: new Map([['uuid', 'id']]),
  rows: () => [['a'], [undefined]],
};
const context: PlanContext = {
  database: {
    id: 1,
    uuid: 'd',
    name: 'd',
    retentionNs: undefined,
    tables: new Map([['cpu', cpu]]),
  },
  nowNs: 1_700_000_000_000_000_000n,
  params: new Map<string, string | bigint>([
    ['host', 'a'],
    ['limit', 3n],
  ]),
  virtualTables: {
    systemTableNames: ['queries'],
    table: (schema, name) => (schema === 'system' && name === 'queries' ? queries : undefined),
    tableFunction(name) {
      if (name === 'last_cache') return cached;
      if (name === 'broken') throw tsdbError('plan_error', 'Error during planning: no such cache');
      return undefined;
    },
  },
};

describe('a plan from a planner thread', () => {
  let planner: StatementPlanner;
  const thread = new PlannerThread();
  before(async () => {
    planner = await StatementPlanner.load({ maxCachedCount: 8 });
  });
  after(() => thread.close());

  for (const text of [
    'SELECT 1',
    "SELECT time, usage FROM cpu WHERE host = $host AND time > now() - INTERVAL '1 hour' ORDER BY time LIMIT $limit",
    'SELECT a.host, avg(b.usage) FROM cpu a JOIN cpu b ON a.time = b.time GROUP BY 1',
    'SELECT a.uuid, b.id FROM system.queries AS a, system.queries AS b',
    "SELECT * FROM last_cache('cpu') AS c WHERE c.host IN ('a', 'b')",
    'SELECT table_name, column_name FROM information_schema.columns',
    'SHOW TABLES',
    'EXPLAIN SELECT * FROM cpu',
  ]) {
    it(`equals the plan of the main thread: ${text}`, async () => {
      const plan = await thread.plan(text, context);
      assert.deepEqual(plan, planner.plan(text, context, MAIN_THREAD_LIMITS).serialized);
      for (const { table } of plan.scans) assert.ok(table === cpu || table === cached.table);
    });
  }

  it('uses the tables and functions of the main thread and fails alike', async () => {
    const [scan] = (await thread.plan('SELECT usage, time FROM cpu', context)).scans;
    assert.deepEqual(
      [scan?.columns, scan?.minTimeNs, scan?.maxTimeNs],
      [['usage', 'time'], MIN_TIME_NS, MAX_TIME_NS],
    );
    for (const [text, kind, why] of [
      ['SELECT * FROM nothing', 'plan_error', /table 'public.iox.nothing' not found/],
      ['SELECT * FROM broken(1)', 'plan_error', /no such cache/],
      [
        'SELECT 1 1 1',
        'plan_error',
        /^SQL error: ParserError\("Expected: .* at Line: 1, Column: 10"\)$/,
      ],
      ['SELECT 1; SELECT 2', 'not_implemented', /^This feature is not implemented: /],
    ] as const) {
      await assert.rejects(thread.plan(text, context), (error: Error) => {
        assert.ok(tsdbError.is(error, kind));
        assert.match(error.message, why);
        return true;
      });
    }
  });

  it('is rejected above the limits, and the next one succeeds', async () => {
    const text = `SELECT ${'substr(not, '.repeat(30)}note`;
    await assert.rejects(thread.plan(text, context), /the statement is too complex; shorten it/);
    assert.deepEqual((await thread.plan('SELECT 2', context)).pieces.length, 1);
  });

  it('is canceled when the client disconnects', async () => {
    const busy = thread.plan('SELECT 1', context);
    const late = thread.plan('SELECT 1', context, AbortSignal.abort(tsdbError('query_cancelled')));
    await assert.rejects(late, { kind: 'query_cancelled' });
    await busy;
  });

  it('is rejected while the thread stops', async () => {
    const ending = new PlannerThread();
    const refused = [1, 2].map(() =>
      assert.rejects(ending.plan('SELECT 1', context), { kind: 'shutting_down' }),
    );
    await ending.close();
    await Promise.all(refused);
    await assert.rejects(ending.plan('SELECT 1', context), { kind: 'shutting_down' });
    await ending.close();
  });
});
