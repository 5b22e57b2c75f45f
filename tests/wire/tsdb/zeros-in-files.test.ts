// Source: query-languages, "SQL: types, literals, expressions": 0.0 and -0.0 are equal wherever the rows are stored.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  assertEmpty,
  FLUSH_AT_ONCE,
  rows,
  ServerInProcess,
  untilInFiles,
  write,
} from '../../harness/index.js';

/** Enough equal values that a file is dictionary-encoded: it contains each value once, and an index. */
const ROW_COUNT = 30_000;
const ZERO_EVERY = 3;
const ORDERS = { negative_first: ['-0.0', '0.0'], positive_first: ['0.0', '-0.0'] } as const;

const fieldOf = (i: number, zeros: readonly [string, string]): string =>
  i % ZERO_EVERY === 0 ? (zeros[i % 2] ?? '') : `${(i % 20) + 0.5}`;

let first: ServerInProcess;
let server: ServerInProcess;
before(async () => {
  first = await ServerInProcess.start({ flags: ['--without-auth', ...FLUSH_AT_ONCE] });
  const { dataDir } = first;
  for (const [table, zeros] of Object.entries(ORDERS)) {
    const lines = Array.from(
      { length: ROW_COUNT },
      (_, i) => `${table} f=${fieldOf(i, zeros)} ${i}`,
    );
    assertEmpty(await write(first, { db: 'zeros' }, lines.join('\n')));
  }
  await untilInFiles(first);
  await first.stop();
  server = await ServerInProcess.start({ dataDir });
});
after(async () => {
  await server.close();
  await first.close(); // Its folder is removed with it.
});

describe('zeros of both signs in files', () => {
  for (const table of Object.keys(ORDERS)) {
    for (const zero of ['0', '0.0', '-0.0']) {
      it(`are all found by f = ${zero} in ${table}`, async () => {
        const q = `SELECT count(*) AS n FROM ${table} WHERE f = ${zero}`;
        assert.deepEqual(await rows(server, 'zeros', q), [{ n: ROW_COUNT / ZERO_EVERY }]);
      });
    }
  }
});
