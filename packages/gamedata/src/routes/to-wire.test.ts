import assert from 'node:assert/strict';
import { it } from 'node:test';
import { inputCheck, requestError } from '@plinth/kernel';
import { Type } from 'typebox';
import { toErrorResponse } from './to-wire.js';

const word = (error: unknown) => toErrorResponse(error, () => assert.fail('it is no bug'));
const refusalOf = (act: () => unknown): unknown => {
  try {
    act();
  } catch (error) {
    return error;
  }
  return assert.fail('nothing was refused');
};

it('formats schema failures: a parameter by its name, a body by its paths', () => {
  const schema = Type.Object({ limit: Type.Integer({ minimum: 1 }) });
  const query = word(refusalOf(() => inputCheck('querystring', schema)({ limit: '0' })));
  assert.equal(query.status, 400);
  assert.deepEqual([query.body.code, query.body['param']], ['invalid_parameter', 'limit']);
  const body = word(refusalOf(() => inputCheck('body', schema)({})));
  assert.deepEqual([body.status, body.body.code], [400, 'validation_failed']);
  assert.deepEqual(body.body['details'], [
    { path: '/limit', code: 'required', message: 'required' },
  ]);
});

it('formats a body that is not JSON', () => {
  const { status, body } = word(requestError('json_unreadable', 'not_json'));
  assert.deepEqual([status, body.code], [400, 'invalid_json']);
});
