import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { SqlBench } from '../../testing/sql-bench.js';

let bench: SqlBench;
before(async () => {
  bench = await SqlBench.open({
    cpu: { columns: { host: 'tag', region: 'tag', time: 'time', usage: 'float64' }, rows: [] },
  });
});

describe('the last point of each series', () => {
  const takesLastRows = (text: string): boolean | undefined =>
    bench.plan(text).scans[0]?.lastRowsOnly;

  it('is all that the scan reads if no condition can exclude it', () => {
    for (const text of [
      'SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time DESC',
      'SELECT DISTINCT ON (host, region) host, usage FROM cpu ORDER BY host, region DESC, time DESC, usage',
      "SELECT DISTINCT ON (host) * FROM cpu WHERE time < '2020-01-01' AND host IN ('a', 'b') ORDER BY host, time DESC",
      "SELECT DISTINCT ON (host) * FROM cpu WHERE (host = 'a') AND time BETWEEN 1 AND 5 ORDER BY host, time DESC",
    ]) {
      assert.equal(takesLastRows(text), true, text);
    }
  });

  it('is not sufficient if an earlier row may be the result', () => {
    for (const text of [
      'SELECT DISTINCT ON (host) * FROM cpu WHERE usage > 1 ORDER BY host, time DESC',
      "SELECT DISTINCT ON (host) * FROM cpu WHERE host = 'a' AND usage > 1 OR host = 'b' ORDER BY host, time DESC",
      "SELECT DISTINCT ON (host) * FROM cpu WHERE date_part('hour', time) = 3 ORDER BY host, time DESC",
      'SELECT DISTINCT ON (host) * FROM cpu WHERE time < 5 OR time > 9 ORDER BY host, time DESC',
      'SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, time',
      'SELECT DISTINCT ON (host) * FROM cpu ORDER BY host, usage DESC',
      'SELECT DISTINCT ON (usage) * FROM cpu ORDER BY usage, time DESC',
      'SELECT DISTINCT ON (a.host) * FROM cpu a JOIN cpu b ON a.host = b.host ORDER BY a.host, a.time DESC',
      'SELECT host FROM cpu ORDER BY host, time DESC',
    ]) {
      assert.notEqual(takesLastRows(text), true, text);
    }
  });
});
