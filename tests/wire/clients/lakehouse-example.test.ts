// Source: examples/lakehouse/README.md. Trino takes too long; `open-tables-trino.long.test.ts` starts it.
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pythonWith, runProgram } from '../../harness/index.js';
import { READERS } from './open-tables-packages.js';

const SCRIPT = fileURLToPath(new URL('../../../../examples/lakehouse/run.sh', import.meta.url));
const TIMEOUT_MS = 240_000;
/** Rows have the values 0 to 2399; the first 1,200 lose those of sensor 7: 50 h + 7. */
const FIRST = { rows: 1200, sum: (1199 * 1200) / 2 };
const LAST = { rows: 2400 - 24, sum: (2399 * 2400) / 2 - (50 * 276 + 7 * 24) };

it('the lakehouse example prints equal sums', { timeout: TIMEOUT_MS }, async (context) => {
  const python = await pythonWith(READERS, context);
  if (python === undefined) return;
  const env = { LAKEHOUSE_VENV: dirname(dirname(python)), PLINTH_TEST_TRINO: 'none' };
  const output = await runProgram('bash', [SCRIPT], { env, timeoutMs: TIMEOUT_MS });
  const found = [...output.matchAll(/^(\w+) +rows +(\d+) +sum +(\d+)$/gm)].map(
    ([, name, rows, sum]) => ({ name, rows: Number(rows), sum: Number(sum) }),
  );
  const names = ['Plinth', 'PyIceberg', 'ClickHouse'];
  const expected = [FIRST, LAST].flatMap((values) => names.map((name) => ({ name, ...values })));
  assert.deepEqual(found, expected);
  assert.match(output, /Trino skipped: PLINTH_TEST_TRINO is none/);
});
