// Source: the console's specification, "Words" and "Faults".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  attemptText,
  deliveryFigures,
  isDelivered,
  missingText,
  resultText,
} from './delivery-text.js';

it('names the result of a delivery with the reason phrase or the failure', () => {
  const cases: readonly (readonly [status: string, code: number, text: string, good: boolean])[] = [
    ['OK', 200, '200 OK', true],
    ['OK', 299, '299 OK', true],
    ['Invalid HTTP Response: 504', 504, '504 Gateway Timeout', false],
    ['Invalid HTTP Response: 503', 503, '503 Service Unavailable', false],
    ['timed out', 504, 'Timed out', false],
    ['failed to connect to network', 502, 'Connection failed', false],
    ['failed to connect to host', 502, 'Host unreachable', false],
    ['Invalid HTTP Response: 502', 502, '502 Bad Gateway', false],
  ];
  for (const [status, status_code, text, good] of cases) {
    assert.equal(resultText({ status, status_code }), text);
    assert.equal(isDelivered({ status_code }), good, text);
  }
});

it('distinguishes automatic retries from redeliveries', () => {
  assert.equal(attemptText({ attempt: 1, redelivery: false }), 'Attempt 1');
  assert.equal(attemptText({ attempt: 2, redelivery: true }), 'Retry 1');
  assert.equal(attemptText({ attempt: 1, redelivery: true }), 'Redelivered');
  assert.equal(attemptText({ attempt: null, redelivery: true }), 'Repeated');
});

it('computes the success rate, and when an app is failing', () => {
  const of = (deliveries: number, failed: number) =>
    deliveryFigures({ deliveries, failed, p95_duration: deliveries === 0 ? null : 0.25 });
  assert.equal(of(0, 0), undefined);
  assert.deepEqual(of(1, 0), { count: 1, successPercent: 100, p95Sec: 0.25, isFailing: false });
  // Two failures are too few to call an app failing.
  assert.equal(of(2, 2)?.isFailing, false);
  assert.equal(of(3, 2)?.isFailing, true);
  assert.equal(of(3, 1)?.isFailing, false);
  assert.equal(of(3, 1)?.successPercent, 66);
  assert.equal(of(1000, 1)?.successPercent, 99);
});

it('reports the part of a response that is not stored', () => {
  const text = (
    response_bytes: number | null,
    response_truncated: boolean | null,
    headers: Readonly<Record<string, string>> | null = {},
  ) => missingText({ response: { headers }, response_bytes, response_truncated });
  assert.equal(text(5, false), undefined);
  assert.equal(text(null, null, null), undefined);
  // A complete response that is as long as the limit, and a record of an earlier version.
  assert.equal(text(65_536, false), undefined);
  assert.equal(text(65_536, null), undefined);
  // The body was deleted after its retention period.
  assert.equal(text(null, true), undefined);
  const length = { 'Content-Length': '1048576' };
  assert.match(text(65_536, true, length) ?? '', /^Only the first 65,536 of 1,048,576 bytes of/);
  assert.match(text(65_536, true) ?? '', /^Only the first 65,536 bytes of/);
});
