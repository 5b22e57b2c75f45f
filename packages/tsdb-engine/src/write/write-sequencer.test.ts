import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type CommitLog, DiskFull } from '@plinth/kernel';
import { ManualClock } from '@plinth/kernel/testing';
import type { TableStore } from '../table/table-store.js';
import { Tombstones } from '../table/tombstones.js';
import { WalSeriesDictionary } from './wal-series-dictionary.js';
import { WriteSequencer } from './write-sequencer.js';

const TABLES = 20;
const RECORDS = 50;

it('resets the definitions of a failed batch once, with any number of waiting records', async (t) => {
  const rejects: ((error: Error) => void)[] = [];
  const log = {
    append: () => ({
      durable: new Promise<void>((_, reject) => {
        rejects.push(reject);
      }),
    }),
  };
  const sequencer = new WriteSequencer({
    // This stub and those below have only the members that an append uses.
    log: log as unknown as CommitLog,
    clock: new ManualClock(),
    hardLimitBytes: 1e9,
  });
  const index = { count: 1, sizeOfTags: () => ({ tagCount: 0, sizeBytes: 0 }), putTags: put };
  const stores = Array.from(
    { length: TABLES },
    (_, tableId) =>
      ({
        tableId,
        series: { index },
        append() {},
        tombstones: new Tombstones(),
      }) as unknown as TableStore,
  );
  const seriesOrdinals = new Uint32Array(1);
  const batch = { rowCount: 1, seriesOrdinals, times: new BigInt64Array(1), fields: [] };
  const write = (): Promise<void>[] =>
    Array.from({ length: RECORDS }, (_, i) => {
      const store = stores[i % TABLES] as TableStore; // the index is within its length
      return sequencer.append([{ store, batch }]);
    });
  for (let round = 1; round <= 2; round++) {
    const full = new DiskFull(undefined);
    const forget = t.mock.method(WalSeriesDictionary.prototype, 'reset');
    const written = write();
    assert.equal(sequencer.countUndefined(stores[0] as TableStore, seriesOrdinals), 0);
    for (const reject of rejects.splice(0)) reject(full);
    await Promise.allSettled(written);
    assert.equal(forget.mock.callCount(), TABLES, `round ${round}`);
    assert.equal(
      sequencer.countUndefined(stores[0] as TableStore, seriesOrdinals),
      1,
      'it is defined anew',
    );
    assert.equal(stores[0]?.tombstones.all.length, round, 'all of a refusal are hidden by one');
    forget.mock.restore();
  }
});

function put(_dense: number, _bytes: Uint8Array, at: number): number {
  return at;
}
