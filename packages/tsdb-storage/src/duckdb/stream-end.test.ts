import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { throwFailure } from './stream-end.js';

describe('the error of a statement after its first rows', () => {
  const failure = async (repeat: () => Promise<never>): Promise<unknown> =>
    await throwFailure(
      { run: (text) => (text === 'ROLLBACK' ? Promise.resolve(undefined as never) : repeat()) },
      'SELECT 1',
      2048,
    ).catch((error: unknown) => error);

  it('is the error of the repeated statement', async () => {
    const error = new Error('Conversion Error: no');
    assert.equal(await failure(() => Promise.reject(error)), error);
  });

  it('is out of memory if the repeated statement succeeds', async () => {
    const error = await failure(() => Promise.resolve(undefined as never));
    assert.ok(tsdbError.is(error, 'query_out_of_memory'), String(error));
  });

  it('is found in each column of the statement, whatever the names of its columns are', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    try {
      const text = "SELECT 1 AS rows, CAST('x' || range AS INTEGER) AS v FROM range(2)";
      await assert.rejects(throwFailure(connection, text, 0), /Conversion Error/);
    } finally {
      connection.closeSync();
      instance.closeSync();
    }
  });

  it('is unknown for a statement that cannot be nested', async () => {
    const error = await failure(() => Promise.reject(new Error('Parser Error: EXPLAIN')));
    assert.ok(tsdbError.is(error, 'query_failed'), String(error));
  });
});
