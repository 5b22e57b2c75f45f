import assert from 'node:assert/strict';
import { it } from 'node:test';
import { revisionOf } from './tsdb.js';

it('/ping reports the commit of a release as its revision, unless the setting names another', () => {
  assert.equal(revisionOf('unknown', '0a1b2c3'), '0a1b2c3');
  assert.equal(revisionOf('my-build', '0a1b2c3'), 'my-build');
  assert.equal(revisionOf('unknown', undefined), 'unknown');
});
