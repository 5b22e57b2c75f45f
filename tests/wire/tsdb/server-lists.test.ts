// Source: InfluxDB 1.6.7, whose shapes these are: SHOW STATS, SHOW DIAGNOSTICS, SHOW SHARDS and SHOW SHARD GROUPS.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

interface Series {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
}

let server: ServerInProcess;
before(async () => {
  server = await ServerInProcess.start();
  const written = await server.http.send('/write?db=lists', {
    body: 'm,host=a v=1 1000000000\nm,host=b v=2 2000000000\nn v=3 1700000000000000000',
  });
  assert.equal(written.status, 204);
});
after(async () => await server.close());

async function show(q: string, more: Readonly<Record<string, string>> = {}): Promise<Series[]> {
  const response = await server.http.send(`/query?${new URLSearchParams({ q, ...more })}`);
  assert.equal(response.status, 200, response.text);
  const { results } = JSON.parse(response.text) as {
    results: { readonly series?: Series[]; readonly error?: string }[];
  };
  assert.equal(results[0]?.error, undefined);
  return results[0]?.series ?? [];
}

/** Returns the only row of a series, by column. */
const rowOf = ({ columns, values }: Series): Readonly<Record<string, unknown>> => {
  assert.equal(values.length, 1);
  return Object.fromEntries(columns.map((name, i) => [name, values[0]?.[i]]));
};
const only = (all: readonly Series[], name: string): Series => {
  const found = all.filter((series) => series.name === name);
  assert.equal(found.length, 1, `${name} in ${all.map((series) => series.name)}`);
  return found[0] as Series; // just counted
};

describe('SHOW STATS', () => {
  it('has a series of its own columns for each thing that is counted', async () => {
    const all = await show('SHOW STATS');
    for (const { columns } of all) assert.deepEqual(columns, [...columns].sort());
    const lists = all.find(({ tags }) => tags?.['database'] === 'lists');
    assert.deepEqual(lists, {
      name: 'database',
      tags: { database: 'lists' },
      columns: ['numMeasurements', 'numSeries'],
      values: [[2, 3]],
    });
    const httpd = rowOf(only(all, 'httpd'));
    assert.equal(httpd['pointsWrittenOK'], 3);
    assert.equal(httpd['writeReq'], 1);
    assert.ok(Number(rowOf(only(all, 'runtime'))['Sys']) > 1_000_000);
    assert.ok(Number(rowOf(only(all, 'queryExecutor'))['queriesExecuted']) >= 1);
  });

  it('says the same as /debug/vars', async () => {
    const vars = JSON.parse((await server.http.send('/debug/vars')).text) as Record<string, object>;
    const all = await show('SHOW STATS');
    const names = all.map(({ name, tags }) => [name, ...Object.values(tags ?? {})].join(':'));
    const { system, build, ...counted } = vars;
    assert.ok(system !== undefined && build !== undefined);
    assert.deepEqual(names.sort(), Object.keys(counted).sort());
  });

  it('shows one of them, by its name, or nothing', async () => {
    const some = await show("SHOW STATS FOR 'database'");
    assert.ok(some.length >= 1);
    assert.ok(some.every(({ name }) => name === 'database'));
    assert.deepEqual(await show("show stats for 'nothing'"), []);
  });

  it('wants a name in quotes', async () => {
    const response = await server.http.send(
      `/query?q=${encodeURIComponent('SHOW STATS FOR httpd')}`,
    );
    assert.match(response.text, /"error":"[^"]*invalid SHOW STATS statement, expected string/);
  });

  it('is the same in CSV, MessagePack and chunks, each series under its own heading', async () => {
    const q = encodeURIComponent("SHOW STATS FOR 'database'; SHOW DIAGNOSTICS");
    const headers = { accept: 'application/csv' };
    const csv = (await server.http.send(`/query?q=${q}`, { headers })).text;
    assert.match(csv, /^name,tags,numMeasurements,numSeries\n/);
    assert.match(csv, /\ndatabase,database=lists,2,3\n/);
    assert.match(csv, /\nname,tags,Branch,Build Time,Commit,Version\nbuild,,/);
    assert.match(csv, /\n\nname,tags,hostname\nnetwork,,/);
    const chunked = (await server.http.send(`/query?chunked=true&q=${q}`)).text;
    const parts = chunked
      .trim()
      .split('\n')
      .flatMap((line) => (JSON.parse(line) as { results: { series: Series[] }[] }).results)
      .flatMap(({ series }) => series);
    assert.deepEqual(parts.find(({ tags }) => tags?.['database'] === 'lists')?.values, [[2, 3]]);
    assert.deepEqual(only(parts, 'network').columns, ['hostname']);
    const packed = await server.http.send(`/query?q=${q}`, {
      headers: { accept: 'application/x-msgpack' },
    });
    assert.equal(packed.status, 200);
    for (const word of ['hostname', 'numSeries', 'GOMAXPROCS']) {
      assert.ok(packed.text.includes(word), word);
    }
  });
});

describe('SHOW DIAGNOSTICS', () => {
  it('tells of build, network, runtime and system', async () => {
    const all = await show('SHOW DIAGNOSTICS');
    assert.deepEqual(
      all.map(({ name, columns }) => [name, columns]),
      [
        ['build', ['Branch', 'Build Time', 'Commit', 'Version']],
        ['network', ['hostname']],
        ['runtime', ['GOARCH', 'GOMAXPROCS', 'GOOS', 'version']],
        ['system', ['PID', 'currentTime', 'started', 'uptime']],
      ],
    );
    const system = rowOf(only(all, 'system'));
    assert.equal(system['PID'], process.pid);
    const [started, now] = [system['started'], system['currentTime']].map((time) => {
      assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
      return Date.parse(String(time));
    });
    assert.ok(Number(started) <= Number(now) && Math.abs(Number(now) - Date.now()) < 60_000);
    assert.match(String(system['uptime']), /^(\d+h)?(\d+m)?\d+s$/);
    assert.equal(rowOf(only(all, 'runtime'))['version'], process.version);
    const ping = JSON.parse((await server.http.send('/ping')).text) as { version: string };
    assert.equal(rowOf(only(all, 'build'))['Version'], ping.version);
    assert.deepEqual(await show("SHOW DIAGNOSTICS FOR 'network'"), [only(all, 'network')]);
  });
});

describe('SHOW SHARDS', () => {
  const COLUMNS = [
    'id',
    'database',
    'retention_policy',
    'shard_group',
    'start_time',
    'end_time',
    'expiry_time',
    'owners',
  ];

  it('lists where rows are, by database and policy, before and after they are in files', async () => {
    const policy = 'CREATE RETENTION POLICY hour ON lists DURATION 520w REPLICATION 1';
    await show(policy);
    const nowSec = Math.floor(Date.now() / 1000);
    await server.http.send('/write?db=lists&rp=hour&precision=s', { body: `m v=1 ${nowSec}` });
    const check = async (): Promise<void> => {
      const lists = only(await show('SHOW SHARDS'), 'lists');
      assert.deepEqual(lists.columns, COLUMNS);
      const rows = lists.values.map((row) =>
        Object.fromEntries(COLUMNS.map((c, i) => [c, row[i]])),
      );
      assert.ok(rows.length >= 2);
      assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
      for (const row of rows) {
        assert.equal(row['database'], 'lists');
        assert.equal(row['owners'], '');
        assert.equal(row['shard_group'], row['id']);
        const [start, end, expiry] = ['start_time', 'end_time', 'expiry_time'].map((name) =>
          Date.parse(String(row[name])),
        ) as [number, number, number];
        assert.ok(start < end);
        // For data that never expires, 1.x shows the end time.
        const keptMs = row['retention_policy'] === 'hour' ? 520 * 7 * 86_400_000 : 0;
        assert.equal(expiry - end, keptMs);
      }
      const holds = (name: string, sec: number): boolean =>
        rows.some(
          (row) =>
            row['retention_policy'] === name &&
            Date.parse(String(row['start_time'])) <= sec * 1000 &&
            Date.parse(String(row['end_time'])) > sec * 1000,
        );
      for (const sec of [1, 2, 1_700_000_000]) assert.ok(holds('autogen', sec), String(sec));
      assert.ok(holds('hour', nowSec));
      const groups = only(await show('SHOW SHARD GROUPS'), 'shard groups');
      assert.deepEqual(
        groups.columns,
        COLUMNS.filter((name) => name !== 'shard_group' && name !== 'owners'),
      );
      const own = groups.values.filter(([, database]) => database === 'lists');
      assert.deepEqual(
        own,
        rows.map((row) => groups.columns.map((name) => row[name])),
      );
    };
    await check();
    const { dataDir } = server;
    await server.stop();
    const again = await ServerInProcess.start({ dataDir });
    const first = server;
    server = again;
    try {
      await check();
    } finally {
      await again.close();
      server = first;
    }
  });
});
