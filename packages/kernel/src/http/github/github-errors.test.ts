import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Type } from 'typebox';
import { createLogger } from '../../log/logger.js';
import { inputCheck } from '../../schema/input-check.js';
import { githubErrorResponse } from './github-errors.js';

const log = createLogger({ level: 'silent' });
const OPTIONAL_KEY = Type.Union([Type.String({ maxLength: 3 }), Type.Null()], {
  title: 'Key',
  writeOnly: true,
});
const check = inputCheck(
  'body',
  Type.Object(
    {
      name: Type.String({ minLength: 1, pattern: '^\\S', errorMessage: 'name must be a word' }),
      slug: Type.Optional(Type.String({ pattern: '^[a-z]+$' })),
      key: Type.Optional(OPTIONAL_KEY),
    },
    { title: 'App', additionalProperties: false },
  ),
);

function refusal(body: unknown): readonly object[] {
  try {
    check(body);
  } catch (error) {
    const { status, body: told } = githubErrorResponse(error, { log, documentationUrl: 'd' });
    assert.equal(status, 422);
    return JSON.parse(String(told)).errors;
  }
  return assert.fail('nothing was refused');
}

it('formats schema failures with the annotations of the schema', () => {
  assert.deepEqual(refusal({}), [{ resource: 'App', field: 'name', code: 'missing_field' }]);
  // The value violates two rules.
  assert.deepEqual(refusal({ name: '' }), [
    { resource: 'App', field: 'name', code: 'custom', message: 'name must be a word' },
  ]);
  assert.deepEqual(refusal({ name: 'a', slug: 'A' }), [
    { resource: 'App', field: 'slug', code: 'invalid', value: 'A' },
  ]);
});

it('returns neither secret values nor values of unknown fields', () => {
  assert.deepEqual(refusal({ name: 'a', key: 'long', kye: 'secret' }), [
    { resource: 'App', field: 'kye', code: 'invalid' },
    { resource: 'Key', field: 'key', code: 'invalid' },
  ]);
});
