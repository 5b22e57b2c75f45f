// Source: query-languages, "Continuous queries". The data and the results are from the manual of InfluxDB 1.8.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { CallFaults, ManualClock } from '@plinth/kernel/testing';
import { openTestNode, type TestNode } from '#src/testing/open-test-node.js';
import { query, queryInfluxql, TEST_DATABASE, writeLines } from '#src/testing/write-and-query.js';

const HOUR_MS = 3_600_000;
const at = (time: string): number => Date.parse(`2016-08-28T${time}Z`);

let dataDir = '';
let clock: ManualClock;
let node: TestNode;
let faults: CallFaults;
let lines: { readonly msg: string; readonly message?: string }[] = [];

const POINTS = [5, 8, 8, 7, 8, 15, 15, 17, 20].map(
  (passengers, i) => `bus_data passengers=${passengers} ${at('07:00') + i * 900_000}000000`,
);

async function open(folder = dataDir): Promise<TestNode> {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLogger({ level: 'warn', destination });
  return await openTestNode(folder, { clock, faults, log });
}

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-continuous-'));
  clock = new ManualClock(at('07:50'));
  faults = new CallFaults();
  lines = [];
  node = await open();
  await node.catalog.ensureDatabase(TEST_DATABASE);
  await writeLines(node, POINTS);
});
afterEach(async () => {
  faults.heal();
  await node.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function values(text: string): Promise<unknown[][]> {
  const { results } = JSON.parse(await queryInfluxql(node, text)) as {
    results: { series?: { values?: unknown[][] }[]; error?: string }[];
  };
  assert.equal(results[0]?.error, undefined, text);
  return results[0]?.series?.flatMap((series) => series.values ?? []) ?? [];
}

const create = (name: string, select: string, resample = ''): Promise<unknown[][]> =>
  values(`CREATE CONTINUOUS QUERY ${name} ON d ${resample} BEGIN ${select} END`);

const MEANS = 'SELECT mean(passengers) INTO average FROM bus_data GROUP BY time';

/** Returns the results as `HH:MM value`. */
const averages = async (table = 'average'): Promise<string[]> =>
  (await values(`SELECT * FROM ${table}`)).map(
    ([time, value]) => `${String(time).slice(11, 16)} ${value}`,
  );

/** Lets time pass in small steps, and waits for the runs at each step. */
async function passTo(time: string, stepMs = 600_000): Promise<void> {
  const endMs = at(time);
  while (clock.nowMs() < endMs) {
    await clock.advanceMs(Math.min(stepMs, endMs - clock.nowMs()));
    await untilIdle();
  }
}

async function untilIdle(): Promise<void> {
  await clock.advanceMs(1); // A query that is due at this moment has no lag yet.
  for (let i = 0; i < 10_000; i++) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advanceMs(0);
    const hasRun = node.continuousQueries.all().every(({ positionNs }) => positionNs !== undefined);
    if (hasRun && node.continuousQueries.lagNs === 0n) return;
  }
  const errors = node.continuousQueries.all().map(({ lastError }) => lastError);
  assert.fail(`a query that is due does not run: ${errors}`);
}

describe('continuous queries', () => {
  it('write the mean of each hour', async () => {
    await create('basic', `${MEANS}(1h)`);
    await passTo('08:00');
    assert.deepEqual(await averages(), ['07:00 7']);
    await passTo('09:00');
    assert.deepEqual(await averages(), ['07:00 7', '08:00 13.75']);
  });

  it('write with an offset, tags, and the name of the source', async () => {
    await create('moved', `${MEANS}(1h, 15m)`);
    await create(
      'named',
      'SELECT sum(passengers) INTO d.weekly.:MEASUREMENT FROM /bus.*/ GROUP BY time(30m), *',
    ).then(
      () => assert.fail('the retention policy does not exist'),
      (error: Error) => assert.match(error.message, /retention policy not found: d\.weekly/),
    );
    await values('CREATE RETENTION POLICY weekly ON d DURATION 0s REPLICATION 1');
    await writeLines(node, [`bus_data,line=a passengers=3 ${at('08:01')}000000`]);
    await create(
      'named',
      'SELECT sum(passengers) INTO d.weekly.:MEASUREMENT FROM /bus.*/ GROUP BY time(30m), *',
    );
    await passTo('09:15', 300_000);
    assert.deepEqual(await averages(), ['07:15 6.8', '08:15 16.75']);
    assert.deepEqual(await values(`SELECT "sum", line FROM d.weekly.bus_data WHERE line = 'a'`), [
      ['2016-08-28T08:00:00Z', 3, 'a'],
    ]);
  });

  it('fill intervals without rows as far as FOR reaches', async () => {
    await create('filled', `${MEANS}(1h) fill(1000)`, 'RESAMPLE FOR 2h');
    await passTo('08:00');
    assert.deepEqual(await averages(), ['06:00 1000', '07:00 7']);
    await passTo('11:00');
    assert.deepEqual(await averages(), [
      '06:00 1000',
      '07:00 7',
      '08:00 13.75',
      '09:00 20',
      '10:00 1000',
    ]);
  });

  it('compute late rows again within FOR', async () => {
    await create('late', `${MEANS}(1h)`, 'RESAMPLE FOR 2h');
    await passTo('08:00');
    await writeLines(node, [`bus_data passengers=17 ${at('07:59')}000000`]);
    assert.deepEqual(await averages(), ['07:00 7']);
    await passTo('09:00');
    assert.deepEqual(await averages(), ['07:00 9', '08:00 13.75']);
  });

  it('compute the intervals of a downtime after the start', async () => {
    await create('basic', `${MEANS}(30m)`);
    await passTo('08:00');
    await node.close();
    await clock.advanceMs(1.2 * HOUR_MS);
    node = await open();
    await untilIdle();
    assert.deepEqual(await averages(), ['07:30 7.5', '08:00 11.5', '08:30 16']);
  });

  it('repeat a run whose position was not stored, and double nothing', async () => {
    // The table exists, because its creation would need the store.
    await writeLines(node, [`total sum=0 ${at('05:00')}000000`]);
    await create('basic', 'SELECT sum(passengers) INTO total FROM bus_data GROUP BY time(1h)');
    await untilIdle();
    const copy = await mkdtemp(join(tmpdir(), 'plinth-continuous-copy-'));
    await passTo('07:59');
    faults.fail({ kind: 'relational.transaction', count: Number.POSITIVE_INFINITY });
    await clock.advanceMs(60_000);
    for (let i = 0; i < 200 && (await averages('total')).length === 1; i++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    assert.deepEqual(await averages('total'), ['05:00 0', '07:00 28']);
    // As after `kill -9`: the rows are durable, and the position is still that of the start.
    await cp(dataDir, copy, { recursive: true });
    faults.heal();
    await node.close();
    await rm(dataDir, { recursive: true, force: true });
    dataDir = copy;
    node = await open();
    await passTo('09:00');
    assert.deepEqual(await averages('total'), ['05:00 0', '07:00 28', '08:00 55']);
  });

  it('report a failed run, and repeat it', async () => {
    await writeLines(node, [`average mean="text" ${at('06:00')}000000`]);
    await create('basic', `${MEANS}(1h)`);
    await untilIdle(); // A jump of the clock would end a transaction that still runs.
    await clock.advanceMs(600_000);
    for (let i = 0; i < 200 && node.continuousQueries.counts.failureCount === 0; i++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const logged = lines.find(({ msg }) => msg === 'continuous query failed');
    assert.match(logged?.message ?? '', /^d\.basic: partial write: /);
    const [failed] = node.continuousQueries.all();
    assert.match(failed?.lastError ?? '', /partial write: .* dropped=1/);
    assert.equal(failed?.state?.rowCount, 0n);
    await values('DROP MEASUREMENT average');
    await passTo('08:05', 10_000);
    assert.deepEqual(await averages(), ['07:00 7']);
    assert.equal(node.continuousQueries.all()[0]?.lastError, undefined);
  });

  it('stop with their database, and compute the missed intervals if it is restored', async () => {
    await create('basic', `${MEANS}(30m)`);
    await passTo('08:00');
    await node.catalog.deletions.deleteDatabase(TEST_DATABASE, {
      kind: 'never',
    });
    assert.deepEqual(node.continuousQueries.all(), []);
    await clock.advanceMs(HOUR_MS);
    await node.catalog.deletions.undeleteDatabase(TEST_DATABASE);
    await untilIdle();
    assert.deepEqual(await averages(), ['07:30 7.5', '08:00 11.5', '08:30 16']);
    await node.catalog.deletions.deleteDatabase(TEST_DATABASE, { kind: 'never' });
    await values('CREATE DATABASE d');
    assert.deepEqual(await values('SHOW CONTINUOUS QUERIES'), []);
  });

  it('store no position while a backup copies the log and the store', async () => {
    await create('basic', `${MEANS}(1h)`);
    await passTo('07:59');
    const before = node.continuousQueries.all()[0]?.positionNs;
    const folder = await mkdtemp(join(tmpdir(), 'plinth-continuous-backup-'));
    const copyStore = async (): Promise<void> => {
      await clock.advanceMs(60_000);
      for (let i = 0; i < 1000 && (await averages()).length === 0; i++) await clock.advanceMs(1);
      assert.deepEqual(await averages(), ['07:00 7']);
      // More time than the store needs to store the position.
      for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(node.continuousQueries.all()[0]?.positionNs, before);
    };
    const frozen = await node.freeze({ copyStore, folder });
    frozen.release();
    await untilIdle();
    assert.equal(node.continuousQueries.all()[0]?.positionNs, BigInt(at('08:00')) * 1_000_000n);
    await rm(folder, { recursive: true, force: true });
  });
});

describe('statements about continuous queries', () => {
  const text = (name: string): string =>
    `CREATE CONTINUOUS QUERY ${name} ON d BEGIN SELECT mean(passengers) INTO d.autogen.average FROM d.autogen.bus_data GROUP BY time(1h) END`;

  it('list queries with database and retention policy, also after a restart', async () => {
    await create('basic', `${MEANS}(1h)`);
    assert.deepEqual(await values('SHOW CONTINUOUS QUERIES'), [['basic', text('basic')]]);
    await node.close();
    node = await open();
    assert.deepEqual(await values('SHOW CONTINUOUS QUERIES'), [['basic', text('basic')]]);
    await values('DROP CONTINUOUS QUERY basic ON d');
    await values('DROP CONTINUOUS QUERY basic ON d');
    await values('DROP CONTINUOUS QUERY basic ON absent');
    assert.deepEqual(await values('SHOW CONTINUOUS QUERIES'), []);
  });

  it('accept an equal query, and refuse another one with its name', async () => {
    await create('basic', `${MEANS}(1h)`);
    await create('basic', `${MEANS}(60m)`);
    await assert.rejects(create('basic', `${MEANS}(2h)`), /continuous query already exists/);
    assert.equal((await values('SHOW CONTINUOUS QUERIES')).length, 1);
  });

  it('refuse databases that do not exist, and invalid selects', async () => {
    const refused = (statement: string, message: RegExp) =>
      assert.rejects(values(statement), message, statement);
    await refused(
      `CREATE CONTINUOUS QUERY q ON absent BEGIN ${MEANS}(1h) END`,
      /database not found: absent/,
    );
    await refused(
      'CREATE CONTINUOUS QUERY q ON d BEGIN SELECT passengers INTO a FROM bus_data GROUP BY time(1h) END',
      /GROUP BY requires at least one aggregate function/,
    );
    await refused(
      'CREATE CONTINUOUS QUERY q ON d BEGIN SELECT mean(passengers) INTO absent..a FROM bus_data GROUP BY time(1h) END',
      /database not found: absent/,
    );
    assert.deepEqual(node.continuousQueries.all(), []);
  });

  it('refuse more queries than the limit', async () => {
    for (let i = 0; i < 1000; i++) {
      await node.continuousQueries.create({ database: 'd', name: `q${i}`, text: text(`q${i}`) });
    }
    await assert.rejects(create('more', `${MEANS}(1h)`), /the server has 1000 continuous queries/);
  });
});

describe('rollups', () => {
  const SQL =
    "SELECT date_bin(INTERVAL '1 hour', time) AS time, line, avg(passengers) AS mean, count(*) AS n, max(name) AS name, bool_or(passengers > 15) AS full FROM bus_data WHERE time >= $from AND time < $to GROUP BY 1, 2";
  const rollup = (text: string) =>
    node.continuousQueries.define(
      { database: 'd', name: 'hourly' },
      { language: 'sql', text, everyNs: 3_600_000_000_000n, forNs: undefined, table: 'hours' },
    );

  it('write a tag value with a newline to its own series, never as another line', async () => {
    await writeLines(node, [`bus_data,line=a\\\nother passengers=3,name="x" ${at('08:01')}000000`]);
    await rollup(SQL);
    await untilIdle();
    await passTo('09:00');
    const tables = [...(node.catalog.database('d')?.tables.keys() ?? [])];
    assert.deepEqual(tables.sort(), ['bus_data', 'hours']);
  });

  it('write tags and fields of each interval, also after a restart', async () => {
    await writeLines(node, [`bus_data,line=a\\ b passengers=3,name="x\\"y" ${at('08:01')}000000`]);
    await rollup(SQL);
    await passTo('08:00');
    await node.close();
    node = await open();
    await passTo('09:00');
    const columns = '"mean", "n", "name", "full", "line"';
    assert.deepEqual(await values(`SELECT ${columns} FROM hours ORDER BY time`), [
      ['2016-08-28T07:00:00Z', 7, 4, null, false, null],
      ['2016-08-28T08:00:00Z', 13.75, 4, null, true, null],
      ['2016-08-28T08:00:00Z', 3, 1, 'x"y', false, 'a b'],
    ]);
    assert.deepEqual(await values('SHOW CONTINUOUS QUERIES'), []);
    assert.deepEqual(
      await query(
        node,
        'SELECT name, language, target, run_every, run_for, position, last_error, rows_written FROM system.continuous_queries',
      ),
      [
        'name | language | target | run_every | run_for | position | last_error | rows_written',
        'hourly | sql | hours | 1h | NULL | 2016-08-28T09:00:00 | NULL | 2',
      ],
    );
  });

  it('refuse queries whose results cannot be stored', async () => {
    const refused = (text: string, message: RegExp) => assert.rejects(rollup(text), message, text);
    await refused('SELECT * FROM absent', /table .*absent.* not found/);
    await refused('SELECT nothing', /nothing/);
    await refused(
      'SELECT time, passengers FROM bus_data',
      /add WHERE time >= \$from AND time < \$to/,
    );
    const range = 'FROM bus_data WHERE time >= $from AND time < $to';
    await refused(`SELECT passengers ${range}`, /timestamp column named "time"/);
    await refused(`SELECT time ${range}`, /a column other than "time" and the tags/);
    await refused(`SELECT time, time AS t ${range}`, /column "t" has a type/);
    assert.deepEqual(node.continuousQueries.all(), []);
  });
});
