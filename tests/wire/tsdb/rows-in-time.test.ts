// Source: query-languages, "No row order without ORDER BY": rows of a plain scan ascend by time.
// Own process: its memory is measured.
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FlightClient, jsonTicket } from '../../harness/flight-client.js';
import { assertEmpty, ServerProcess } from '../../harness/index.js';
import { askFlight, residentMb } from '../../harness/slow-readers.js';

/** Enough rows that the response is generated in several pieces. */
const ROW_COUNT = 450_000;
const BATCH_ROWS = 50_000;
const START_NS = 1_700_000_000_000_000_000n;
const STEP_NS = 400_000_000n;

const LONG_ZONE = 'a zone whose name is rather long, ü';
const hostOf = (i: number) => `host_${i % 100}`;
/** Some series have no zone, one has a long zone. */
const zoneOf = (i: number): string | null =>
  i % 100 >= 50 ? null : i % 100 === 7 ? LONG_ZONE : `z${i % 2}`;
const tagsOf = (i: number): string => {
  const zone = zoneOf(i)?.replace(/[ ,]/g, '\\$&');
  return `host=${hostOf(i)}${zone === undefined ? '' : `,zone=${zone}`}`;
};

const READER_COUNT = 30;
const SCHEMA_BYTES = 1500;
/** More than the size of a schema. */
const WINDOW_BYTES = 4096;
/** 30 buffered responses would take three times as much. */
const MAX_GROWTH_MB = 450;

let server: ServerProcess;
let client: FlightClient;
before(async () => {
  server = await ServerProcess.start();
  for (let from = 0; from < ROW_COUNT; from += BATCH_ROWS) {
    await write(
      Array.from({ length: BATCH_ROWS }, (_, k) => {
        const i = from + k;
        return `cpu,${tagsOf(i)} n=${i}i ${START_NS + BigInt(i) * STEP_NS}`;
      }),
    );
  }
  client = new FlightClient(server.url);
});
after(async () => {
  client.close();
  await server.close();
});

const write = async (lines: readonly string[]) =>
  assertEmpty(
    await server.http.send('/api/v3/write_lp?db=t&precision=ns', { body: lines.join('\n') }),
  );

/** Returns the column `n` of a Flight result. */
async function numbersOf(sql_query: string): Promise<number[]> {
  const table = await client.table(jsonTicket({ database: 't', sql_query }));
  const vector = table.getChild('n');
  return vector === null ? [] : [...vector].map(Number);
}

/** Every `step`th number from 0 on. */
const every = (step: number, offset = 0): number[] =>
  Array.from({ length: ROW_COUNT / step }, (_, i) => i * step + offset);

describe('a large answer without ORDER BY', () => {
  it('F-01 ascends by time and has every row once', async () => {
    assert.deepEqual(await numbersOf('SELECT n FROM cpu'), every(1));
  });

  it('F-01 takes conditions and expressions', async () => {
    assert.deepEqual(await numbersOf('SELECT time, n FROM cpu WHERE n % 2 = 1'), every(2, 1));
    assert.deepEqual(
      await numbersOf('SELECT n + 0 AS n FROM cpu WHERE n % 90000 = 0'),
      every(90_000),
    );
    const from = START_NS + 100_000n * STEP_NS;
    const q = `SELECT n FROM cpu WHERE time >= CAST(${from} AS TIMESTAMP) AND n < 400000`;
    assert.deepEqual(await numbersOf(q), every(1).slice(100_000, 400_000));
  });

  it('F-01 has the tags of every row, whatever else is done with them', async () => {
    const check = async (sql_query: string, isIn: (i: number) => boolean = () => true) => {
      const table = await client.table(jsonTicket({ database: 't', sql_query }));
      const [n, host, zone] = ['n', 'host', 'zone'].map((name) => table.getChild(name));
      let wrongCount = 0;
      for (let row = 0; row < table.numRows; row++) {
        const i = Number(n?.get(row));
        if (host?.get(row) !== hostOf(i) || zone?.get(row) !== zoneOf(i)) wrongCount++;
      }
      assert.equal(wrongCount, 0, sql_query);
      assert.equal(table.numRows, every(1).filter(isIn).length, sql_query);
    };
    await check('SELECT host, n, zone FROM cpu');
    await check('SELECT *, host AS again FROM (SELECT * FROM cpu)');
    await check('SELECT n, zone, host FROM cpu ORDER BY time DESC');
    await check('SELECT n, zone, host FROM cpu ORDER BY time, host');
    await check('SELECT n, zone, host FROM cpu ORDER BY time DESC, 2');
    await check('SELECT n, zone, host, upper(zone) AS up, host AS again FROM cpu');
    await check("SELECT * FROM cpu WHERE zone IS NULL OR zone <> 'z0'", (i) => zoneOf(i) !== 'z0');
    await check("SELECT * FROM cpu WHERE host > 'host_5'", (i) => hostOf(i) > 'host_5');
    // JSON lines contain the same rows.
    const q = encodeURIComponent('SELECT zone, n, host FROM cpu');
    const response = await server.http.send(`/api/v3/query_sql?db=t&format=jsonl&q=${q}`);
    const lines = response.text.trimEnd().split('\n');
    assert.equal(lines.length, ROW_COUNT);
    const lineOf = (i: number) => {
      const zone = zoneOf(i);
      return JSON.stringify({ ...(zone !== null && { zone }), n: i, host: hostOf(i) });
    };
    assert.equal(
      lines.findIndex((line, i) => line !== lineOf(i)),
      -1,
    );
  });

  it('F-01 comes in the order that is asked for', async () => {
    assert.deepEqual(await numbersOf('SELECT n FROM cpu ORDER BY time DESC'), every(1).reverse());
    assert.deepEqual(await numbersOf('SELECT n FROM cpu ORDER BY time, n'), every(1));
    const byHost = await numbersOf('SELECT n FROM cpu ORDER BY host, time');
    assert.deepEqual(byHost.slice(0, 3), [0, 100, 200]);
    assert.equal(byHost.length, ROW_COUNT);
    // Another column with the name of the time column.
    const named = await numbersOf('SELECT -n AS time, n FROM cpu ORDER BY time');
    assert.deepEqual(named, every(1).reverse());
    assert.deepEqual(
      await numbersOf('SELECT n FROM cpu ORDER BY time LIMIT 2 OFFSET 300000'),
      [300_000, 300_001],
    );
  });

  it('F-01 that nobody takes is not held whole', {
    skip: process.platform === 'linux' ? false : 'memory is read from /proc',
  }, async () => {
    const sql_query = 'SELECT *, n * 0.5 AS half FROM cpu';
    const beforeMb = residentMb(server.pid);
    const session = connect(server.url, { settings: { initialWindowSize: WINDOW_BYTES } });
    const streams = Array.from({ length: READER_COUNT }, () => {
      const stream = askFlight(session, { database: 't', sql_query });
      stream.on('error', () => {});
      // Fills the window and reads nothing more.
      stream.on('readable', () => {});
      return stream;
    });
    const haveRows = () => streams.every(({ readableLength }) => readableLength > SCHEMA_BYTES);
    for (let count = 0; count < 600 && !haveRows(); count++) await sleep(100);
    assert.ok(haveRows());
    const growthMb = residentMb(server.pid) - beforeMb;
    session.destroy();
    assert.ok(growthMb < MAX_GROWTH_MB, `grew by ${Math.round(growthMb)} MB`);
  });

  it('F-01 ends when the connection of its slow reader does', async () => {
    const session = connect(server.url, { settings: { initialWindowSize: WINDOW_BYTES } });
    const stream = askFlight(session, { database: 't', sql_query: 'SELECT * FROM cpu' });
    stream.on('error', () => {}).on('readable', () => {});
    while (stream.readableLength <= SCHEMA_BYTES) await sleep(50);
    const others = async () => {
      const q =
        "SELECT count(*) AS n FROM system.queries WHERE running AND query_text LIKE 'SELECT * FROM cpu'";
      const response = await client.table(jsonTicket({ database: 't', sql_query: q }));
      return Number(response.getChild('n')?.get(0));
    };
    assert.equal(await others(), 1);
    session.destroy();
    for (let count = 0; count < 200 && (await others()) > 0; count++) await sleep(100);
    assert.equal(await others(), 0);
  });

  it('F-01 is one picture of the table, whatever is written while it is read', async () => {
    const ticket = jsonTicket({ database: 't', sql_query: 'SELECT n, time FROM cpu' });
    const reading = client.table(ticket);
    // Later points, points between the others, overwritten points, and a new column.
    const writing = (async () => {
      for (let round = 0; round < 20; round++) {
        const lines = [1, ROW_COUNT / 2, ROW_COUNT - 1, ROW_COUNT + 1000].flatMap((i) => {
          const time = START_NS + BigInt(i + round) * STEP_NS;
          return [
            `cpu,host=host_0,new_${round}=x n=-1i,extra_${round}=1 ${time + 1n}`,
            `cpu,${tagsOf(i + round)} n=${i + round}i ${time}`,
          ];
        });
        await write(lines);
      }
    })();
    const table = await reading;
    await writing;
    const times = table
      .getChild('time')
      ?.data.flatMap(({ values }) => [...(values as BigInt64Array)]);
    assert.ok(times?.every((time, i) => i === 0 || (times[i - 1] as bigint) <= time));
    const numbers = [...(table.getChild('n') ?? [])]
      .map(Number)
      .filter((n) => n >= 0 && n < ROW_COUNT);
    assert.deepEqual(numbers, every(1));
    // After overwriting and merging, every row still exists exactly once.
    const later = await numbersOf('SELECT n FROM cpu');
    assert.equal(later.filter((n) => n === -1).length, 80);
    assert.deepEqual(
      later.filter((n) => n >= 0 && n < ROW_COUNT),
      every(1),
    );
  });
});
