import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MAX_TIME_NS, MIN_TIME_NS } from '@plinth/tsdb-model/scan.js';
import { SqlBench } from '../testing/sql-bench.js';

const SECOND = 1_000_000_000n;
const NOW = 1_600_000_000n * SECOND;

describe('scan narrowing', () => {
  let bench: SqlBench;
  before(async () => {
    const columns = { time: 'time', host: 'tag', region: 'tag', usage: 'float64' } as const;
    bench = await SqlBench.open({ cpu: { columns, rows: [] }, mem: { columns, rows: [] } }, NOW);
  });
  after(() => bench.close());

  /** Formats the tag conditions of the scan at `index`, such as `host in a,b`. */
  const tags = (text: string, index = 0): string[] =>
    (bench.plan(text).scans[index]?.tagConditions ?? []).map(
      ({ tag, op, values }) => `${tag} ${op} ${values.map((value) => value ?? 'NULL').join(',')}`,
    );
  const range = (text: string, index = 0): (bigint | undefined)[] => {
    const scan = bench.plan(text).scans[index];
    return [scan?.minTimeNs, scan?.maxTimeNs];
  };
  const from = (condition: string) => `SELECT usage FROM cpu WHERE ${condition}`;

  it('applies the time bounds of WHERE', () => {
    assert.deepEqual(
      range(from("time >= '1970-01-01T00:00:01Z' AND time < '1970-01-01 00:00:05'")),
      [SECOND, 5n * SECOND - 1n],
    );
    assert.deepEqual(range(from('time > 5 AND time <= 9')), [6n, 9n]);
    assert.deepEqual(range(from('7 = time')), [7n, 7n]);
    assert.deepEqual(range(from('time BETWEEN 3 AND 4')), [3n, 4n]);
    assert.deepEqual(range(from("time > now() - INTERVAL '1 hour'")), [
      NOW - 3600n * SECOND + 1n,
      MAX_TIME_NS,
    ]);
    assert.deepEqual(range(from('time < 10 AND time < 5')), [MIN_TIME_NS, 4n]);
  });

  it('covers the time ranges of both sides of an OR', () => {
    assert.deepEqual(range(from('(time > 5 AND time < 9) OR (time > 20 AND time < 30)')), [
      6n,
      29n,
    ]);
    assert.deepEqual(range(from('time > 5 OR usage > 1')), [MIN_TIME_NS, MAX_TIME_NS]);
    assert.deepEqual(range(from('NOT (time > 5)')), [MIN_TIME_NS, MAX_TIME_NS]);
  });

  it('applies conditions on tags', () => {
    assert.deepEqual(tags(from("host = 'a'")), ['host in a']);
    assert.deepEqual(tags(from("host = 'a' OR host = 'b'")), ['host in a,b']);
    assert.deepEqual(tags(from("host IN ('a', 'b') AND region IS NULL")), [
      'host in a,b',
      'region in NULL',
    ]);
    assert.deepEqual(tags(from("host != 'a'")), ['host not_in a,NULL']);
    assert.deepEqual(tags(from("host NOT IN ('a') AND region IS NOT NULL")), [
      'host not_in a,NULL',
      'region not_in NULL',
    ]);
    assert.deepEqual(tags(from("host = 'a' OR region = 'b'")), []);
  });

  it('reads only the columns of the query', () => {
    const columns = (text: string) => [...(bench.plan(text).scans[0]?.columns ?? [])].sort();
    assert.deepEqual(columns("SELECT max(usage) FROM cpu WHERE host = 'a'"), ['host', 'usage']);
    assert.deepEqual(columns('SELECT count(*) FROM cpu'), []);
  });

  it('applies through a plain subquery but not with LIMIT or a window', () => {
    const outer = (inner: string) => `SELECT * FROM (${inner}) WHERE host = 'a'`;
    assert.deepEqual(tags(outer('SELECT host, usage FROM cpu')), ['host in a']);
    assert.deepEqual(tags(outer('SELECT host, max(usage) FROM cpu GROUP BY host')), ['host in a']);
    assert.deepEqual(tags(outer('SELECT host FROM cpu LIMIT 5')), []);
    assert.deepEqual(tags(outer('SELECT host, row_number() OVER () AS n FROM cpu')), []);
  });

  it('keeps rows that an outer join returns without a match', () => {
    const join = (condition: string) =>
      `SELECT cpu.host FROM cpu LEFT JOIN mem ON cpu.host = mem.host AND mem.time > 5 WHERE ${condition}`;
    assert.deepEqual(tags(join('mem.host IS NULL'), 1), []);
    assert.deepEqual(range(join('mem.host IS NULL'), 1), [6n, MAX_TIME_NS]);
    assert.deepEqual(range(join('mem.host IS NULL'), 0), [MIN_TIME_NS, MAX_TIME_NS]);
    assert.deepEqual(tags(join("mem.host = 'a'"), 1), ['host in a']);
  });

  it('does not apply conditions of a correlated subquery to the outer query', () => {
    const text =
      'SELECT host FROM cpu WHERE EXISTS (SELECT 1 FROM mem WHERE mem.time > 5 AND cpu.time > 7)';
    assert.deepEqual(range(text, 0), [MIN_TIME_NS, MAX_TIME_NS]);
    assert.deepEqual(range(text, 1), [6n, MAX_TIME_NS]);
  });
});
