import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import type { ParameterValue } from '@plinth/tsdb-model/query/planned-query.js';
import type { TableSchema } from '@plinth/tsdb-model/schema.js';
import { SqlPlanner } from '../sql-planner.js';
import { tableSchema } from '../testing/sql-bench.js';

const HOUR = 3_600_000_000_000n;
const columns: Readonly<Record<string, ColumnKind>> = {
  time: 'time',
  host: 'tag',
  usage: 'float64',
};
const cpu: TableSchema = tableSchema('cpu', 1, { columns, rows: [] });

describe('a repeated statement', () => {
  let planner: SqlPlanner;
  before(async () => {
    planner = await SqlPlanner.load();
  });
  after(() => planner.close());

  const requestFor = (
    text: string,
    { nowNs = 10n * HOUR, ...params }: { nowNs?: bigint } & Record<string, ParameterValue> = {},
  ) => {
    const planned = planner.plan(text, {
      database: {
        id: 1,
        uuid: 'd',
        name: 'db',
        retentionNs: undefined,
        tables: new Map([['cpu', cpu]]),
      },
      nowNs,
      params: new Map(Object.entries(params)),
      virtualTables: {
        systemTableNames: [],
        table: () => undefined,
        tableFunction: () => undefined,
      },
    });
    assert.ok(!(planned instanceof Promise));
    return planned.columnQuery;
  };

  it('uses its own literals', () => {
    const text = (host: string, hour: string) =>
      `SELECT max(usage) FROM cpu WHERE time >= '1970-01-01T0${hour}:00:00Z' AND (host = '${host}' OR host = 'z')`;
    for (const [host, hour] of [
      ['a', '1'],
      ['b', '2'],
      ['c', '3'],
    ] as const) {
      const request = requestFor(text(host, hour));
      assert.equal(request?.minTimeNs, BigInt(hour) * HOUR);
      assert.deepEqual(request.tagConditions, [{ tag: 'host', op: 'in', values: [host, 'z'] }]);
    }
  });

  it('uses its own now() and parameters', () => {
    const text =
      "SELECT * FROM cpu WHERE time > now() - INTERVAL '1 hour' AND host = $host AND usage < -$most";
    for (const [nowNs, host, most] of [
      [5n * HOUR, 'a', 1.5],
      [9n * HOUR, 'b', 7n],
    ] as const) {
      const request = requestFor(text, { nowNs, host, most });
      assert.equal(request?.minTimeNs, nowNs - HOUR + 1n);
      assert.deepEqual(request.tagConditions[0]?.values, [host]);
      assert.equal(request.fieldConditions[0]?.value, -Number(most));
    }
  });

  it('uses its own intervals', () => {
    for (const hours of [1n, 2n]) {
      for (const interval of [
        `INTERVAL '${hours} hour'`,
        `'${hours} hour'::INTERVAL`,
        '$width::INTERVAL',
      ]) {
        const request = requestFor(`SELECT * FROM cpu WHERE time > now() - ${interval}`, {
          width: `${hours} hour`,
        });
        assert.equal(request?.minTimeNs, (10n - hours) * HOUR + 1n, interval);
      }
    }
  });

  it('runs in DuckDB if a parameter has another type', () => {
    const text = 'SELECT * FROM cpu WHERE usage < $most';
    assert.ok(requestFor(text, { most: 1 }));
    assert.equal(requestFor(text, { most: '1' }), undefined);
  });

  for (const [what, text] of [
    [
      'a literal outside of WHERE',
      "SELECT date_bin('1 minute', time) AS m, max(usage) FROM cpu WHERE host = 'a' GROUP BY 1",
    ],
    ['a parameter outside of WHERE', 'SELECT * FROM cpu LIMIT $most'],
    ['an interval that is a parameter', 'SELECT * FROM cpu WHERE time > now() - INTERVAL $width'],
    ['a moment that was rounded', "SELECT * FROM cpu WHERE time > date_trunc('day', now())"],
    ['a condition that was made a number', "SELECT * FROM cpu WHERE (host = 'a')::BIGINT = 1"],
  ] as const) {
    it(`runs in DuckDB with ${what}`, () => {
      assert.equal(requestFor(text, { most: 5n, width: '1 hour' }), undefined);
      assert.equal(requestFor(text, { most: 6n, width: '2 hours' }), undefined);
    });
  }
});
