import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ANONYMOUS, type ApiConventions, emptyResponse } from '@plinth/kernel';
import { ConventionsDirectory } from './conventions-directory.js';

const conventions = (...paths: string[]): ApiConventions => ({
  service: 'any',
  paths,
  identify: () => ANONYMOUS,
  errorResponse: () => emptyResponse(500),
  notFoundResponse: () => emptyResponse(404),
});

const accounts = conventions('/v2/core');
const hooks = conventions('/api/v3/app');
const deliveries = conventions('/api/v3/app/hook/deliveries');
const fallback = conventions();
const directory = new ConventionsDirectory(fallback);
for (const each of [accounts, hooks, deliveries, accounts]) directory.add(each);

describe('ConventionsDirectory', () => {
  const check = (target: string, expected: ApiConventions) =>
    assert.equal(directory.find(target), expected, target);

  it('matches a path and its subpaths, but not siblings or parents', () => {
    check('/v2/core', accounts);
    check('/v2/core?limit=1', accounts);
    check('/v2/core/', accounts);
    check('/v2/core/accounts/acct_1?a=/b', accounts);
    check('/v2/corex', fallback);
    check('/v2', fallback);
    check('/v2?/core', fallback);
    check('/', fallback);
    check('', fallback);
    check('//v2/core', fallback);
  });

  it('prefers the longest path', () => {
    check('/api/v3/app/hook', hooks);
    check('/api/v3/app/hook/deliveries/1', deliveries);
    check('/api/v3/write_lp', fallback);
  });

  it('refuses two objects for one path', () => {
    assert.throws(() => directory.add(conventions('/v2/core')), /must have only one conventions/);
  });
});
