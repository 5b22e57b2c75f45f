// Source: docs/formats/segment.md, physical names. Clients may name columns like those that generated SQL adds.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ManualClock, temporaryFolder } from '@plinth/kernel/testing';
import type { OpenTsdb } from '#src/service.js';
import { flushEngine } from '#src/testing/flush-node.js';
import { openTestNode } from '#src/testing/open-test-node.js';
import { query, queryInfluxql, writeLines } from '#src/testing/write-and-query.js';

const HELPER_NAMES = [
  ...['_series', '_series_tags', '_series_row', '_series_rows', '_seq', '_seq_rank', '_seq_order'],
  ...['_seq_in_older_segment', '_seq_number', '_is_in_older_segment', '_number', '_row'],
];
const RESERVED_NAMES = [...HELPER_NAMES, 'rowid', 'filename', 'file_row_number', 'file_index'];
const NAMES = [
  ...[...RESERVED_NAMES, ...RESERVED_NAMES.map((name) => name.toUpperCase())],
  ...[
    'a',
    'b',
    'c',
    'd',
    'f',
    'k',
    'l',
    'm',
    'n',
    'o',
    'P',
    'r',
    's',
    'T',
    'u',
    'x',
    'rows',
    'line',
  ],
  ...[
    'a0',
    'b0',
    'c0',
    'C1',
    'g0',
    'G0',
    'k0',
    'r0',
    'S0',
    'v0',
    'groups',
    'bin',
    'bins',
    'present',
  ],
];
const SAMPLE = ['_seq', '_is_in_older_segment', '_NUMBER', 'rowid', 'd', 'G0'];

/** Times of the writes of each generation: repeated in it, repeated after a flush, and late. */
const GENERATIONS: readonly (readonly number[])[] = [
  [3, 5, 5, 7],
  [5, 1, 1, 7, 9, 9],
  [5, 2, 4, 9],
];
const HOSTS = ['p', 'q'];

/** A kind of values: the text of the n-th write, and its value in results. */
interface Kind {
  readonly written: (n: number) => string;
  readonly read: (n: number) => string;
}
const FIELD_KINDS: Readonly<Record<string, Kind>> = {
  integers: { written: (n) => `${n}i`, read: (n) => `${n}` },
  booleans: { written: (n) => (n % 4 < 2 ? 't' : 'f'), read: (n) => `${n % 4 < 2}` },
  strings: { written: (n) => `"x${n}"`, read: (n) => `x${n}` },
};

/** The number of the write that each value comes from: by `host time`, then by column. */
type Points = Map<string, Map<string, number>>;

const quoted = (name: string): string => `"${name}"`;

async function withNode(
  flags: Readonly<Record<string, string>>,
  work: (node: OpenTsdb, reopen: () => Promise<OpenTsdb>) => Promise<void>,
): Promise<void> {
  const dataDir = join(await temporaryFolder(), 'node');
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const open = () => openTestNode(dataDir, { clock, flags });
  let node = await open();
  try {
    await work(node, async () => {
      await node.close();
      node = await open();
      return node;
    });
  } finally {
    await node.close();
  }
}

/** Compares all values; lists only those that differ. */
async function checkRows(node: OpenTsdb, points: Points, { read }: Kind): Promise<void> {
  const [, ...lines] = await query(
    node,
    `SELECT host, extract(nanosecond from time), ${NAMES.map(quoted).join(', ')} FROM fields ORDER BY host, time`,
  );
  const rows = lines.map((line) => line.split(' | '));
  assert.deepEqual(
    rows.map(([host, time]) => `${host} ${time}`),
    [...points.keys()].sort(),
  );
  const faults = rows.flatMap(([host, time, ...cells]) =>
    NAMES.flatMap((name, i) => {
      const n = points.get(`${host} ${time}`)?.get(name);
      const expected = n === undefined ? 'NULL' : read(n);
      return cells[i] === expected ? [] : [`${host} ${time} ${name}: ${cells[i]}, not ${expected}`];
    }),
  );
  assert.deepEqual(faults, []);
}

async function checkInfluxql(node: OpenTsdb, points: Points, { read }: Kind): Promise<void> {
  const list = NAMES.map(quoted).join(', ');
  const countTexts = SAMPLE.map((name) => `count(${quoted(name)})`).join(', ');
  const { results } = JSON.parse(
    await queryInfluxql(
      node,
      `SELECT ${list} FROM fields GROUP BY host; SELECT ${countTexts} FROM fields GROUP BY host`,
    ),
  );
  const valuesOf = (statement: number, host: string): readonly (readonly unknown[])[] =>
    results[statement].series.find((series: TaggedSeries) => series.tags['host'] === host)
      ?.values ?? [];
  for (const host of HOSTS) {
    const ofHost = [...points].filter(([key]) => key.startsWith(host)).sort();
    const valueAt = (point: ReadonlyMap<string, number>, name: string): string => {
      const n = point.get(name);
      return n === undefined ? 'null' : read(n);
    };
    assert.deepEqual(
      valuesOf(0, host).map(([, ...cells]) => cells.map(String)),
      ofHost.map(([, point]) => NAMES.map((name) => valueAt(point, name))),
    );
    const counts = SAMPLE.map((name) => ofHost.filter(([, point]) => point.has(name)).length);
    assert.deepEqual(
      valuesOf(1, host).map(([, ...cells]) => cells),
      counts.every((count) => count === 0) ? [] : [counts],
    );
  }
}

interface TaggedSeries {
  readonly tags: Readonly<Record<string, string>>;
  readonly values: readonly (readonly unknown[])[];
}

async function deleteRows(node: OpenTsdb, statement: string): Promise<void> {
  assert.equal(await queryInfluxql(node, statement), '{"results":[{"statement_id":0}]}\n');
}

for (const flags of [{}, { 'tsdb-column-cache-bytes': '0' }])
  describe(`columns of clients ${JSON.stringify(flags)}`, () => {
    for (const [kindName, kind] of Object.entries(FIELD_KINDS))
      it(`${kindName} keep their values in memory, in files, merged and after deletions`, async () => {
        await withNode(flags, async (first, reopen) => {
          const points: Points = new Map();
          const check = async (node: OpenTsdb): Promise<void> => {
            await checkRows(node, points, kind);
            await checkInfluxql(node, points, kind);
          };
          let n = 0;
          for (const times of GENERATIONS) {
            for (const [time, host] of times.flatMap((at) => HOSTS.map((h) => [at, h] as const))) {
              n++;
              const point = points.get(`${host} ${time}`) ?? new Map<string, number>();
              points.set(`${host} ${time}`, point);
              // Each write lacks a third of the fields, so that values of several writes are merged.
              const names = NAMES.filter((_, i) => (i + n) % 3 > 0);
              for (const name of names) point.set(name, n);
              const fields = names.map((name) => `${name}=${kind.written(n)}`);
              await writeLines(first, [`fields,host=${host} ${fields.join(',')} ${time}`]);
            }
            await checkRows(first, points, kind);
            await first.engine.background.flusher.flush('all');
            await checkRows(first, points, kind);
          }
          const [name = '', written = 0] = [...(points.get('p 4') ?? [])][0] ?? [];
          const literal = kind.read(written).replace(/^x.*/, "'$&'");
          await deleteRows(
            first,
            `DELETE FROM fields WHERE ${quoted(name)} = ${literal} AND host = 'p' AND time = 4`,
          );
          points.delete('p 4');
          const deleted = SAMPLE.map(quoted).join(', ');
          await deleteRows(first, `DELETE FIELD ${deleted} FROM fields WHERE host = 'q'`);
          for (const [key, point] of points)
            if (key.startsWith('q')) for (const name of SAMPLE) point.delete(name);
          await check(first);
          await flushEngine(first.engine);
          await check(await reopen());
        });
      });

    it('tags select and group rows in memory, in files and after deletions', async () => {
      await withNode(flags, async (first, reopen) => {
        const tags = NAMES.map((name) => `${name}=${name}!`).join(',');
        const all = NAMES.map((name) => `${quoted(name)} = '${name}!'`).join(' AND ');
        const check = async (node: OpenTsdb, sum: number): Promise<void> => {
          const [, ...rows] = await query(node, `SELECT sum(v) FROM tags WHERE ${all}`);
          assert.deepEqual(rows, [`${sum}`]);
          for (const name of SAMPLE) {
            const groups = await query(
              node,
              `SELECT ${quoted(name)}, sum(v) FROM tags GROUP BY ${quoted(name)} ORDER BY 2`,
            );
            assert.deepEqual(groups.slice(1), ['NULL | 5', `${name}! | ${sum}`]);
            const { results } = JSON.parse(
              await queryInfluxql(node, `SELECT sum(v) FROM tags GROUP BY ${quoted(name)}`),
            );
            assert.deepEqual(
              results[0].series.map(({ tags: key, values }: TaggedSeries) => [key, values[0]?.[1]]),
              [
                [{ [name]: '' }, 5],
                [{ [name]: `${name}!` }, sum],
              ],
            );
          }
        };
        await writeLines(first, [`tags,${tags} v=10i 5`, `tags,${tags} v=20i 6`, 'tags v=5i 5']);
        await check(first, 30);
        await first.engine.background.flusher.flush('all');
        await writeLines(first, [`tags,${tags} v=11i 5`, `tags,${tags} v=9i 1`, 'tags v=5i 5']);
        await check(first, 40);
        await first.engine.background.flusher.flush('all');
        await check(first, 40);
        await deleteRows(
          first,
          `DELETE FROM tags WHERE "_seq" = '_seq!' AND "ROWID" != '' AND time = 1`,
        );
        await check(first, 31);
        await flushEngine(first.engine);
        await check(await reopen(), 31);
      });
    });
  });
