import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ChecksumThread } from '@plinth/kernel';
import { FileDamaged, FileSums } from './file-sums.js';

function sumsOver(error: Error): FileSums {
  const get = async (): Promise<never> => {
    throw error;
  };
  return new FileSums({ get } as never, new ChecksumThread());
}
const failure = (code: string): Error => Object.assign(new Error(code), { code });
const FILE = { objectName: 'a.parquet', sizeBytes: 1, checksum: 1 };

it('reports an unreadable file as damaged', async () => {
  for (const code of ['EIO', 'ENOENT'])
    await assert.rejects(sumsOver(failure(code)).verify(FILE), FileDamaged);
});

it('does not report a file as damaged when the process has too many open files', async () => {
  const error = failure('EMFILE');
  await assert.rejects(sumsOver(error).verify(FILE), error);
});
