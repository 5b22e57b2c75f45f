// Source: the console's specification, "Words" and "Faults".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attemptText, isDelivered, resultText } from './delivery-text.js';

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
