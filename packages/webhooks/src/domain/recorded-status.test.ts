// Source: webhooks, section 5.4.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Outcome } from '@plinth/kernel';
import { statusOf } from './recorded-status.js';

it('names every outcome of an attempt', () => {
  const check = (outcome: object, status: string, status_code: number): void =>
    assert.deepEqual(statusOf(outcome as Outcome), { status, status_code }); // all that it reads
  for (const statusCode of [200, 201, 204, 299]) {
    check({ kind: 'answered', statusCode }, 'OK', statusCode);
  }
  for (const statusCode of [199, 300, 301, 302, 304, 400, 404, 500, 503]) {
    check({ kind: 'answered', statusCode }, `Invalid HTTP Response: ${statusCode}`, statusCode);
  }
  check({ kind: 'informational_only' }, 'Invalid HTTP Response: 100', 100);
  check({ kind: 'informational_only', statusCode: 103 }, 'Invalid HTTP Response: 103', 103);
  check({ kind: 'timed_out' }, 'timed out', 504);
  check({ kind: 'host_unreachable' }, 'failed to connect to host', 502);
  check({ kind: 'connection_lost' }, 'failed to connect to network', 502);
  const untrusted = 'Peer certificate cannot be authenticated with given CA certificates';
  check({ kind: 'certificate_refused' }, untrusted, 502);
  check({ kind: 'tls_failed' }, 'SSL connect error', 502);
  check({ kind: 'not_http' }, 'Invalid HTTP Response: 0', 502);
});
