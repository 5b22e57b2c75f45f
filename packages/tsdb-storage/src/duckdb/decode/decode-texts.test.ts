import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import type { OutputColumn } from '@plinth/tsdb-model/columns/result.js';
import { TextSpans } from '@plinth/tsdb-model/columns/text-spans.js';
import { DuckDbHost } from '../duckdb-host.js';

const ROW_COUNT = 5000;
const UTF8: OutputColumn = { name: 'x', type: { kind: 'utf8' }, tableColumnKind: undefined };

/** Strings of 0 to 40 bytes, some NULL, in another order than in DuckDB's memory. */
const TEXT = `CASE WHEN i % 11 = 0 THEN NULL
  WHEN i % 7 = 0 THEN chr(65279) || 'a mark comes before this text'
  ELSE repeat('ü', i % 19) || i END`;

function textOf(i: number): string | null {
  if (i % 11 === 0) return null;
  if (i % 7 === 0) return '\ufeffa mark comes before this text';
  return 'ü'.repeat(i % 19) + i;
}

describe('strings of DuckDB', () => {
  let folder: string;
  let duckDb: DuckDbHost;
  before(async () => {
    folder = await temporaryFolder();
    duckDb = new DuckDbHost({
      dataDir: folder,
      spillDir: join(folder, 'spill'),
      memoryLimitBytes: 256 * 1048576,
      threads: 2,
      idleConnections: 2,
      register: async () => {},
    });
  });
  after(() => duckDb.close());

  /** Returns the strings of the only column, and whether any of them was decoded as bytes. */
  async function read(text: string, isSmall: boolean) {
    const { signal } = new AbortController();
    const texts: (string | null)[] = [];
    let hasSpans = false;
    for await (const { rowCount, columns } of duckDb.stream({
      text,
      columns: [UTF8],
      signal,
      isMaterialized: isSmall,
    })) {
      const [column] = columns;
      assert.ok(column);
      hasSpans ||= column instanceof TextSpans;
      for (let row = 0; row < rowCount; row++) {
        const byte = column.validity?.[row >> 3] ?? 0xff;
        texts.push((byte & (1 << (row & 7))) === 0 ? null : (column.values[row] as string));
      }
    }
    return { texts, hasSpans };
  }

  for (const isSmall of [false, true]) {
    it(`are decoded exactly, long and short, in any order (${isSmall ? 'at once' : 'streamed'})`, async () => {
      const places = Array.from({ length: ROW_COUNT }, (_, i) => i);
      const orders = [
        ['i', places],
        ['i DESC', places.toReversed()],
        ['i % 10, i', places.toSorted((a, b) => (a % 10) - (b % 10) || a - b)],
      ] as const;
      for (const [order, rows] of orders) {
        const sql = `SELECT ${TEXT} FROM range(${ROW_COUNT}) t(i) ORDER BY ${order}`;
        const { texts, hasSpans } = await read(sql, isSmall);
        assert.deepEqual(texts, rows.map(textOf), order);
        assert.ok(hasSpans);
      }
    });
  }

  it('may all be equal', async () => {
    const { texts } = await read(`SELECT 'always the same text' FROM range(3000)`, false);
    assert.equal(texts.length, 3000);
    assert.deepEqual(new Set(texts), new Set(['always the same text']));
  });

  it('are inlined if all are short, and if all long ones are NULL', async () => {
    const short = await read(`SELECT 's' || i FROM range(3000) t(i)`, false);
    assert.ok(!short.hasSpans);
    assert.equal(short.texts[2999], 's2999');
    const missing = `SELECT CASE WHEN x = 'a text that is too long' THEN NULL ELSE x END
      FROM (VALUES ('short'), ('a text that is too long')) t(x)`;
    assert.deepEqual(await read(missing, false), { texts: ['short', null], hasSpans: false });
  });

  it('may be larger than a DuckDB memory block', async () => {
    const { texts } = await read(`SELECT repeat(i || 'ö', 300000) FROM range(9) t(i)`, false);
    assert.deepEqual(
      texts,
      Array.from({ length: 9 }, (_, i) => `${i}ö`.repeat(300_000)),
    );
  });
});
