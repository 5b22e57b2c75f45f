// Source: docs/LIVE-QUERIES.md, "Resume a stream".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CommitLog } from '@plinth/kernel';
import { encodeWriteRecord } from '@plinth/tsdb-storage/wal/write-record.js';
import type { WriteSequencer } from '../write/write-sequencer.js';
import { RecordsNotRetained, RetainedLog } from './retained-log.js';

/** @param files numbers of the records of each file. */
function recordsOf(files: Map<number, readonly bigint[]>) {
  let clearedCount = 0;
  const log = {
    readableFiles: async () => [...files.keys()],
    async *recordsOf(file: number) {
      for (const seq of files.get(file) ?? [])
        yield { payload: Buffer.concat(encodeWriteRecord({ seq, tables: [] })) };
    },
    clearRetained: async () => {
      clearedCount++;
    },
  };
  const retainedLog = new RetainedLog({
    log: log as unknown as CommitLog, // only these members are used
    sequencer: { lastSeq: 100n } as WriteSequencer, // only this member is used
    storeOf: () => undefined,
  });
  return { retainedLog, cleared: () => clearedCount };
}

async function read(retainedLog: RetainedLog, afterSeq: bigint): Promise<readonly bigint[]> {
  const seqs: bigint[] = [];
  for await (const { seq } of retainedLog.read({ afterSeq, throughSeq: 100n, tableIds: new Set() }))
    seqs.push(seq);
  return seqs;
}

it('reads what was written after a position', async () => {
  const { retainedLog } = recordsOf(
    new Map([
      [4, [40n, 41n]],
      [5, []],
      [6, [60n]],
    ]),
  );
  assert.equal(await retainedLog.oldestSeq(), 39n);
  assert.deepEqual(await read(retainedLog, 39n), [40n, 41n, 60n]);
  assert.deepEqual(await read(retainedLog, 40n), [41n, 60n]);
});

it('fails if a file disappears before it is read', async () => {
  const files = new Map<number, readonly bigint[]>([
    [4, [40n]],
    [6, [60n]],
  ]);
  const { retainedLog } = recordsOf(files);
  assert.equal(await retainedLog.oldestSeq(), 39n);
  files.set(4, []); // its first record is still known
  await assert.rejects(read(retainedLog, 39n), RecordsNotRetained);
  files.delete(4);
  await assert.rejects(read(retainedLog, 39n), RecordsNotRetained);
  assert.deepEqual(await read(retainedLog, 59n), [60n]);
});

it('deletes log files that are older than a deletion of an earlier run', async () => {
  const { retainedLog, cleared } = recordsOf(new Map([[4, [40n]]]));
  await retainedLog.applyEarlierDeletions([]);
  await retainedLog.applyEarlierDeletions([{ tableId: 1, seq: 39n }]);
  assert.equal(cleared(), 0);
  await retainedLog.applyEarlierDeletions([{ tableId: 1, seq: 41n }]);
  assert.equal(cleared(), 1);
  assert.equal(retainedLog.availableFrom(1, 40n, 39n), 41n);
  assert.equal(retainedLog.availableFrom(2, 40n, 39n), 40n);
});
