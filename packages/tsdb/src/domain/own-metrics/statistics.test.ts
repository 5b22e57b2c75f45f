import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Metrics } from '@plinth/kernel';
import type { DatabaseSchema, TableSchema } from '@plinth/tsdb-model/schema.js';
import { readStatistics } from './statistics.js';

it('leaves out the series of an unreadable table, and creates all counters before it awaits any', async () => {
  const tables = ['whole', 'broken', 'gone'].map((name) => ({ name }) as TableSchema);
  const database = { name: 'd', tables: new Map(tables.map((table) => [table.name, table])) };
  const uncounted: string[] = [];
  let isCounting = false;
  const statistics = await readStatistics(new Metrics(), {
    databases: () => [database as unknown as DatabaseSchema],
    seriesCounter({ name }) {
      assert.ok(!isCounting, 'a table may be gone by now');
      return async () => {
        isCounting = true;
        await new Promise((resolve) => setImmediate(resolve));
        if (name === 'broken') throw new Error('not readable');
        return 3;
      };
    },
    onUncounted: (_database, { name }) => void uncounted.push(name),
  });
  assert.deepEqual(
    statistics.find(({ name }) => name === 'database'),
    { name: 'database', tags: { database: 'd' }, values: { numMeasurements: 3, numSeries: 6 } },
  );
  assert.deepEqual(uncounted, ['broken']);
});
