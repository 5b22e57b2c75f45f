// Source: tsdb-http, §20.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ANONYMOUS, type HttpHead, type Logger, requestError } from '@plinth/kernel';
import { FLIGHT_PATH, grpcConventions } from './flight-conventions.js';

it('returns UNAUTHENTICATED for invalid credentials, and logs unexpected errors', () => {
  const logged: unknown[] = [];
  const log = { error: ({ err }: { err: unknown }) => logged.push(err) } as unknown as Logger; // `grpcConventions` calls only `error`
  const { errorResponse } = grpcConventions(FLIGHT_PATH, () => ANONYMOUS, log);
  const told = (error: unknown) => {
    const headers = new Map(errorResponse(error, {} as HttpHead).headers); // not read
    return [headers.get('grpc-status'), headers.get('grpc-message')];
  };
  const stranger = requestError('not_authenticated');
  assert.deepEqual(told(stranger), ['16', stranger.message]);
  const bug = new Error('a bug');
  assert.deepEqual(told(bug), ['13', 'internal error']);
  assert.deepEqual(logged, [bug]);
});
