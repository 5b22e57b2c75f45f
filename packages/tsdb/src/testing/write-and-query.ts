import assert from 'node:assert/strict';
import { FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { encodedRun } from '../routes/influxql/v1-query-route.js';
import type { OpenTsdb } from '../service.js';
import { renderResult } from './render-result.js';

/** Database of all writes and queries here. */
export const TEST_DATABASE = 'd';

/**
 * Writes lines and requires that all are accepted; timestamps are nanoseconds unless `precision` is
 * set.
 */
export async function writeLines(
  node: OpenTsdb,
  lines: readonly string[],
  precision: 'nanosecond' | 'millisecond' = 'nanosecond',
): Promise<void> {
  if (lines.length === 0) return;
  const outcome = await node.engine.write({
    database: TEST_DATABASE,
    body: Buffer.from(lines.join('\n')),
    access: FULL_ACCESS,
    encoding: 'identity',
    maxSizeBytes: 10_000_000,
    precision,
    acceptPartial: false,
    noSync: false,
    receivedNs: 0n,
  });
  assert.deepEqual(outcome.refused, []);
}

/** The result of an SQL statement: a line of names, then one line per row. */
export async function query(node: OpenTsdb, text: string): Promise<string[]> {
  const result = await node.engine.query({
    database: TEST_DATABASE,
    access: FULL_ACCESS,
    language: 'sql',
    text,
    params: new Map(),
    signal: new AbortController().signal,
  });
  return await renderResult(result);
}

/** The JSON response to InfluxQL statements. */
export async function queryInfluxql(node: OpenTsdb, text: string): Promise<string> {
  const run = await node.influxql.open({
    text,
    database: TEST_DATABASE,
    access: FULL_ACCESS,
    policy: undefined,
    params: new Map(),
    signal: new AbortController().signal,
  });
  const pieces: Buffer[] = [];
  for await (const piece of encodedRun(run)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
