// Source: Apache Iceberg REST catalog specification, `ErrorModel`; internal details are not sent to clients.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  ANONYMOUS,
  type ApiConventions,
  DiskFull,
  jsonResponse,
  StoreOutage,
} from '@plinth/kernel';
import { icebergConventions } from './iceberg-conventions.js';

const messageOf = (status: number, error: unknown): string => {
  const base = { errorResponse: () => jsonResponse(status, {}) } as unknown as ApiConventions; // only this is called
  const response = icebergConventions(base, () => ANONYMOUS).errorResponse(
    error,
    undefined as never,
  );
  assert.equal(response.status, status);
  return JSON.parse(String(response.body)).error.message;
};

it('sends the message of an expected error, and no details of others', () => {
  const outage = new StoreOutage(undefined, 'try again');
  assert.equal(messageOf(503, outage), 'try again');
  assert.equal(messageOf(500, outage), 'internal error');
  assert.equal(messageOf(503, new Error('a detail')), 'internal error');
  const unwrapped = Object.assign(new Error('a detail'), { code: 'ENOSPC' });
  assert.equal(messageOf(503, unwrapped), new DiskFull(unwrapped).message);
  assert.equal(messageOf(500, new Error('a detail')), 'internal error');
});
