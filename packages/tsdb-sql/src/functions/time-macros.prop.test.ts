import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { caseCount } from '@plinth/kernel/testing';
import { addMonths, binFixed, binMonths } from '@plinth/tsdb-model/time/calendar.js';
import { instantOfLocal, offsetNsAt } from '@plinth/tsdb-model/time/time-zone.js';
import fc from 'fast-check';
import { registerDuckDbFunctions } from './index.js';
import { binText } from './time/time-bins.js';
import { instantNsText, localNsText } from './time/zone-text.js';

/** Between 1900 and 2100, where the zone data of Node and DuckDB agree. */
const someTimeNs = fc.bigInt({ min: -2_208_988_800_000_000_000n, max: 4_102_444_800_000_000_000n });
/** After 1970, when all offsets are multiples of a minute. */
const recentTimeNs = fc.bigInt({ min: 0n, max: 1_700_000_000_000_000_000n });

async function withDuckDb(use: (connection: DuckDBConnection) => Promise<void>): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await registerDuckDbFunctions(connection);
    await use(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

const big = (value: bigint) => `CAST(${value} AS BIGINT)`;

async function first(connection: DuckDBConnection, text: string): Promise<unknown> {
  const reader = await connection.runAndReadAll(`SELECT ${text}`);
  return reader.getRows()[0]?.[0];
}

describe('DuckDB time macros', () => {
  it('compute the same bins as the model', () =>
    withDuckDb(async (connection) => {
      const width = fc.bigInt({ min: 1n, max: 2n ** 62n });
      await fc.assert(
        fc.asyncProperty(someTimeNs, width, someTimeNs, async (timeNs, widthNs, originNs) => {
          const text = binText(big(timeNs), { kind: 'fixed', widthNs }, originNs);
          const expected = binFixed(timeNs, widthNs, originNs);
          if (BigInt.asIntN(64, expected) !== expected) return;
          assert.equal(await first(connection, text), expected);
        }),
        { numRuns: caseCount(100) },
      );
    }));

  it('bin months and add months like the model', () =>
    withDuckDb(async (connection) => {
      const months = fc.integer({ min: 1, max: 400 });
      await fc.assert(
        fc.asyncProperty(someTimeNs, months, someTimeNs, async (timeNs, width, originNs) => {
          const text = binText(big(timeNs), { kind: 'months', width }, originNs);
          assert.equal(await first(connection, text), binMonths(timeNs, width, originNs));
          const added = await first(connection, `plinth_add_months(${big(timeNs)}, ${-width})`);
          assert.equal(added, addMonths(timeNs, -width));
        }),
        { numRuns: caseCount(100) },
      );
    }));

  it('convert to wall clock and back like the model', () =>
    withDuckDb(async (connection) => {
      const zone = fc.constantFrom(
        'Europe/Berlin',
        'America/Los_Angeles',
        'Asia/Kolkata',
        '+05:30',
      );
      await fc.assert(
        fc.asyncProperty(recentTimeNs, zone, async (timeNs, name) => {
          const localNs = timeNs + offsetNsAt(name, timeNs);
          assert.equal(await first(connection, localNsText(big(timeNs), name)), localNs);
          const back = await first(connection, instantNsText(big(localNs), name));
          assert.equal(back, instantOfLocal(name, localNs));
        }),
        { numRuns: caseCount(100) },
      );
    }));
});
