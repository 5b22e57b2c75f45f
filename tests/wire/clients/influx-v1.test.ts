// Source: README and API of the npm package "influx" (node-influx 5), used as they show it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FieldType, InfluxDB, toNanoDate } from 'influx';
import { ServerInProcess } from '../../harness/index.js';

let server: ServerInProcess;
let influx: InfluxDB;
before(async () => {
  server = await ServerInProcess.start();
  const { hostname, port } = new URL(server.url);
  influx = new InfluxDB({
    host: hostname,
    port: Number(port),
    database: 'express_response_db',
    schema: [
      {
        measurement: 'response_times',
        fields: {
          path: FieldType.STRING,
          duration: FieldType.INTEGER,
          ratio: FieldType.FLOAT,
          cached: FieldType.BOOLEAN,
        },
        tags: ['host'],
      },
    ],
  });
});
after(async () => await server.close());

describe('the influx client', () => {
  it('pings, creates the database when it is not listed, and lists it', async () => {
    const [ping] = await influx.ping(5000);
    assert.equal(ping?.online, true);
    const before = await influx.getDatabaseNames();
    assert.ok(!before.includes('express_response_db'));
    await influx.createDatabase('express_response_db');
    assert.ok((await influx.getDatabaseNames()).includes('express_response_db'));
  });

  it('writes points of every type and reads them back', async () => {
    await influx.writePoints([
      {
        measurement: 'response_times',
        tags: { host: 'box1' },
        fields: { duration: 12, path: '/a "b", c\\', ratio: 0.5, cached: true },
        timestamp: new Date(1_000),
      },
      {
        measurement: 'response_times',
        tags: { host: 'box 2,x=y' },
        fields: { duration: 30, path: 'ü', ratio: 2, cached: false },
        timestamp: new Date(2_000),
      },
    ]);
    const rows = await influx.query<{
      host: string;
      duration: number;
      path: string;
      ratio: number;
      cached: boolean;
    }>('select * from response_times order by time desc');
    assert.deepEqual(
      rows.map(({ host, duration, path, ratio, cached }) => ({
        host,
        duration,
        path,
        ratio,
        cached,
      })),
      [
        { host: 'box 2,x=y', duration: 30, path: 'ü', ratio: 2, cached: false },
        { host: 'box1', duration: 12, path: '/a "b", c\\', ratio: 0.5, cached: true },
      ],
    );
  });

  it('groups', async () => {
    const results = await influx.query<{ sum: number }>(
      'select sum("duration") from response_times group by host',
    );
    assert.deepEqual(
      results.groups().map(({ tags, rows }) => [Reflect.get(tags, 'host'), rows[0]?.sum]),
      [
        ['box 2,x=y', 30],
        ['box1', 12],
      ],
    );
  });

  it('keeps nanoseconds', async () => {
    const time = '1475985480231035677';
    await influx.writePoints(
      [{ measurement: 'nano', fields: { v: 1 }, timestamp: toNanoDate(time) }],
      { precision: 'n' },
    );
    const [row] = await influx.query<{ time: { getNanoTime(): string } }>('select * from nano', {
      precision: 'n',
    });
    assert.equal(row?.time.getNanoTime(), time);
  });

  it('writes at every precision', async () => {
    for (const [precision, time] of [
      ['u', '5000000'],
      ['ms', '5000'],
      ['s', '5'],
      ['m', '0'],
      ['h', '0'],
    ] as const) {
      await influx.writePoints(
        [{ measurement: `at_${precision}`, fields: { v: 1 }, timestamp: new Date(5000) }],
        { precision },
      );
      const [row] = await influx.query<{ time: Date }>(`select * from at_${precision}`);
      assert.equal(row?.time.getTime(), precision === 'm' || precision === 'h' ? 0 : 5000, time);
    }
  });

  it('lists measurements and series', async () => {
    const names = await influx.getMeasurements();
    assert.ok(names.includes('response_times'));
    const series = await influx.getSeries({ measurement: 'nano', database: 'express_response_db' });
    assert.deepEqual(series, ['nano']);
  });

  it('manages retention policies', async () => {
    await influx.createRetentionPolicy('7d', {
      database: 'express_response_db',
      duration: '7d',
      replication: 1,
    });
    await influx.alterRetentionPolicy('7d', {
      database: 'express_response_db',
      duration: '14d',
      replication: 1,
    });
    const policies = await influx.showRetentionPolicies('express_response_db');
    assert.deepEqual(
      policies.map(({ name, duration }) => [name, duration]),
      [
        ['autogen', '0s'],
        ['7d', '336h0m0s'],
      ],
    );
    await influx.dropRetentionPolicy('7d', 'express_response_db');
  });

  it('drops series, measurements and the database', async () => {
    await influx.dropSeries({
      measurement: (m) => m.name('response_times'),
      where: (e) => e.tag('host').equals.value('box1'),
      database: 'express_response_db',
    });
    const rows = await influx.query<{ host: string }>('select * from response_times');
    assert.deepEqual(
      rows.map(({ host }) => host),
      ['box 2,x=y'],
    );
    await influx.dropMeasurement('nano', 'express_response_db');
    assert.ok(!(await influx.getMeasurements()).includes('nano'));
    await influx.dropDatabase('express_response_db');
    assert.ok(!(await influx.getDatabaseNames()).includes('express_response_db'));
  });
});
