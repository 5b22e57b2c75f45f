// Source: tsdb-http, §20; docs/LOG-MESSAGES.md.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import { GRPC } from '../grpc/grpc-status.js';
import { toGrpcFailure } from './to-status.js';

it('logs failures of the server with the request id, and no failures of the client', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const codeOf = (error: Error) => toGrpcFailure(error, { log, requestId: 'r1' }).code;
  assert.equal(codeOf(tsdbError('plan_error', 'x')), GRPC.INVALID_ARGUMENT);
  assert.equal(codeOf(tsdbError('execution_error', 'x')), GRPC.INVALID_ARGUMENT);
  assert.equal(codeOf(tsdbError('query_cancelled')), GRPC.CANCELLED);
  assert.equal(codeOf(tsdbError('query_unauthorized')), GRPC.UNAUTHENTICATED);
  assert.deepEqual(lines, []);
  assert.equal(codeOf(tsdbError('query_failed', 'x', new Error('bad page'))), GRPC.INTERNAL);
  assert.equal(codeOf(new Error('a bug')), GRPC.INTERNAL);
  assert.equal(codeOf(tsdbError('query_timed_out', 5)), GRPC.DEADLINE_EXCEEDED);
  const logged = lines.map((line) => JSON.parse(line));
  assert.deepEqual(
    logged.map(({ level, requestId, msg }) => [level, requestId, msg]),
    ['error', 'error', 'info'].map((level) => [level, 'r1', 'request failed']),
  );
  assert.match(logged[0].err.message, /bad page/);
});
