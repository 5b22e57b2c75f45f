// Source: docs/formats/segment.md: bytes per value in a file of many rows, depending on the sequence of values.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { assertEmpty, rows, ServerInProcess, write } from '../../harness/index.js';

const SERIES = 50;
const POINTS = 8500;
const ROW_COUNT = SERIES * POINTS;
const POINTS_A_REQUEST = 850;
const POLL_MS = 200;
const START_SEC = 1_704_067_200;

/** Deterministic pseudorandom 32-bit numbers. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
}

/** By table, the three numbers of a row in line protocol. */
const TABLES: Record<string, (next: () => number, before: number) => [number, string]> = {
  /** A gauge from 0 to 100 that changes in small steps. */
  gauges: (next, level) => {
    const now = Math.min(100, Math.max(0, level + ((next() >>> 8) % 5) - 2));
    return [now, `a=${now}i,b=${100 - now}i,c=${now}i`];
  },
  /** One of 200 numbers that are far apart. */
  identities: (next) => {
    const id = BigInt((next() >>> 8) % 200) * 45_000_000_000_000_001n;
    return [0, `a=${id}i,b=${-id}i,c=${id + 1n}i`];
  },
  /** One of 200 strings, and one of 2,000 numbers with two decimal places. */
  texts: (next) => {
    const number = (next() >>> 8) % 2000;
    return [0, `a="/api/way/${number % 200}",b=${number / 100},c=${number % 7}i`];
  },
};

interface Sums {
  a: bigint;
  b: bigint;
  c: bigint;
}

const written = new Map<string, Sums>();
let first: ServerInProcess;
let server: ServerInProcess;

async function writeTable(table: string): Promise<void> {
  const valuesOf = TABLES[table];
  assert.ok(valuesOf);
  const next = chance(7);
  const levels = Array.from({ length: SERIES }, () => next() % 101);
  const sums = { a: 0n, b: 0n, c: 0n };
  for (let from = 0; from < POINTS; from += POINTS_A_REQUEST) {
    const lines: string[] = [];
    for (let point = from; point < from + POINTS_A_REQUEST; point++) {
      for (let series = 0; series < SERIES; series++) {
        const [level, fields] = valuesOf(next, levels[series] as number);
        levels[series] = level;
        if (table !== 'texts') {
          for (const [name, value] of fields.split(',').map((field) => field.split('=')))
            sums[name as keyof Sums] += BigInt((value as string).slice(0, -1));
        }
        lines.push(`${table},host=h${series} ${fields} ${START_SEC + point * 10}`);
      }
    }
    assertEmpty(await write(first, { db: 'd', parameters: 'precision=second' }, lines.join('\n')));
  }
  written.set(table, sums);
}

before(async () => {
  first = await ServerInProcess.start();
  for (const table of Object.keys(TABLES)) await writeTable(table);
  await first.stop();
  // On a busy machine a stop leaves rows in the log: they are flushed soon after the start.
  const flags = ['--without-auth', '--tsdb-buffer-flush-age-ms', '1000'];
  server = await ServerInProcess.start({ dataDir: first.dataDir, flags });
});
after(async () => {
  await server.close();
  await first.close(); // Its folder is removed with it.
});

async function bytesOfAValue(table: string): Promise<number> {
  const q = `SELECT sum(size_bytes) AS bytes, sum(row_count) AS n FROM system.parquet_files WHERE table_name = '${table}'`;
  for (;;) {
    const [response] = (await rows(server, 'd', q)) as { bytes: number; n: number }[];
    if (response?.n === ROW_COUNT) return response.bytes / ROW_COUNT / 3;
    await setTimeout(POLL_MS);
  }
}

describe('a file of many rows', { timeout: 120_000 }, () => {
  it('takes the entropy of small steps, not of values', async () => {
    // Five steps with equal probability are 2.3 bits, 0.29 bytes; a hundred values are 0.83 bytes.
    assert.ok((await bytesOfAValue('gauges')) < 0.5, String(await bytesOfAValue('gauges')));
  });

  it('numbers whole numbers that come again and lie far apart', async () => {
    // 200 values are 0.96 bytes; the difference between two of them takes eight.
    assert.ok((await bytesOfAValue('identities')) < 1.3, String(await bytesOfAValue('identities')));
  });

  it('numbers texts and fractions that come again', async () => {
    // 0.96, 1.37 and 0.35 bytes.
    assert.ok((await bytesOfAValue('texts')) < 1.1, String(await bytesOfAValue('texts')));
  });

  for (const table of ['gauges', 'identities']) {
    it(`gives back what was written to ${table}`, async () => {
      const text = ['a', 'b', 'c']
        .map((name) => `CAST(sum(CAST(${name} AS DECIMAL(38,0))) AS VARCHAR) AS ${name}`)
        .join(', ');
      const responses = await rows(server, 'd', `SELECT ${text}, count(*) AS n FROM ${table}`);
      const { a, b, c } = written.get(table) as Sums;
      assert.deepEqual(responses, [{ a: `${a}`, b: `${b}`, c: `${c}`, n: ROW_COUNT }]);
    });
  }
});
