// Source: tsdb-http, §20.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ANONYMOUS, type HttpHead, type Logger, requestError } from '@plinth/kernel';
import { flightDialect } from './flight-dialect.js';

it('says who is not recognised, and logs what nobody expects', () => {
  const logged: unknown[] = [];
  const log = { error: ({ err }: { err: unknown }) => logged.push(err) } as unknown as Logger; // all that it asks of it
  const { answerError } = flightDialect(() => ANONYMOUS, log);
  const told = (error: unknown) => {
    const headers = new Map(answerError(error, {} as HttpHead).headers); // not looked at
    return [headers.get('grpc-status'), headers.get('grpc-message')];
  };
  const stranger = requestError('not_authenticated');
  assert.deepEqual(told(stranger), ['16', stranger.message]);
  const bug = new Error('a bug');
  assert.deepEqual(told(bug), ['13', 'internal error']);
  assert.deepEqual(logged, [bug]);
});
