import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger, DiskFull } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { errorAnswer } from './to-wire.js';

it('leaves disk-full messages to the server, and logs the cause of a read-only log', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const refuse = (error: Error): number => errorAnswer(error, { wording: 'native', log }).status;
  const noRoom = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  for (const error of [
    new DiskFull(undefined),
    new DiskFull(noRoom),
    noRoom,
    tsdbError('node_read_only'),
  ])
    assert.equal(refuse(error), 503);
  assert.equal(lines.length, 0);
  assert.equal(refuse(tsdbError('node_read_only', undefined, new Error('EIO'))), 503);
  assert.match(lines.join(), /EIO/);
  assert.equal(lines.length, 1);
});
