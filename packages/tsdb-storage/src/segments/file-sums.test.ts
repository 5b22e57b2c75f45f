import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ChecksumThread, objectError, StoreOutage } from '@plinth/kernel';
import { FileDamaged, FileSums } from './file-sums.js';

function sumsOver(error: Error): FileSums {
  const get = async (): Promise<never> => {
    throw error;
  };
  return new FileSums({ get } as never, new ChecksumThread());
}
const failure = (code: string): Error => Object.assign(new Error(code), { code });
const FILE = { objectName: 'a.parquet', sizeBytes: 1, checksum: 1 };

it('reports a missing file as damaged', async () => {
  const missing = objectError('object_not_found', FILE.objectName);
  await assert.rejects(sumsOver(missing).verify(FILE), FileDamaged);
});

it('reports a failure of the store as an outage, because the file may be intact', async () => {
  const failures = [failure('EIO'), failure('ETIMEDOUT'), new Error('503 Slow Down')];
  for (const cause of failures) {
    await assert.rejects(sumsOver(cause).verify(FILE), (error: unknown) => {
      assert.ok(error instanceof StoreOutage, cause.message);
      assert.equal(error.cause, cause);
      assert.match(error.message, /^stored file a\.parquet cannot be read \(/);
      return true;
    });
  }
});

it('does not report a file as damaged when the process has too many open files', async () => {
  const error = failure('EMFILE');
  await assert.rejects(sumsOver(error).verify(FILE), error);
});
