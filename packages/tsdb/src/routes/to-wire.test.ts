import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger, DiskFull } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { type ErrorWording, errorResponse } from './to-wire.js';

it('leaves disk-full messages to the server, and logs the cause of a read-only log', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const refuse = (error: Error): number => errorResponse(error, { wording: 'native', log }).status;
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

it('logs one line with the request id for each 500, and none for errors of the client', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } });
  const statusOf = (error: Error, wording: ErrorWording = 'native'): number =>
    errorResponse(error, { wording, log, requestId: 'r1' }).status;
  assert.equal(statusOf(tsdbError('plan_error', 'x')), 400);
  assert.equal(statusOf(tsdbError('execution_error', 'x')), 400);
  assert.equal(statusOf(tsdbError('query_out_of_memory', 'x')), 503);
  assert.deepEqual(lines, []);
  const levels: string[] = [];
  for (const [error, wording] of [
    [tsdbError('query_failed', 'x', new Error('bad page'))],
    [new Error('a bug')],
    [tsdbError('query_timed_out', 5)],
    [tsdbError('query_cancelled')],
    [tsdbError('execution_error', 'x'), 'text'],
  ] as const) {
    assert.equal(statusOf(error, wording), 500, error.message);
    assert.equal(lines.length, 1, error.message);
    const { level, requestId, msg, err, reason } = JSON.parse(lines.pop() ?? '');
    assert.deepEqual([requestId, msg], ['r1', 'request failed']);
    assert.ok((err?.message ?? reason).startsWith(error.message), error.message);
    levels.push(level);
  }
  assert.deepEqual(levels, ['error', 'error', 'info', 'debug', 'info']);
});
