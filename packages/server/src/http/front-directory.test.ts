import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpService, ServiceFront } from '@plinth/kernel';
import { FrontDirectory } from './front-directory.js';

const front = (...paths: string[]): ServiceFront => ({
  paths,
  authenticate: () => ({ kind: 'anonymous', ip: '' }),
  answerError: (_error, _request, reply) => reply,
  answerNotFound: (_request, reply) => reply,
});
const service = (name: string, own: ServiceFront): HttpService => ({
  name,
  front: own,
  register: async () => {},
  start: async () => {},
  close: async () => {},
});

const accounts = front('/v2/core');
const hooks = front('/api/v3/app');
const deliveries = front('/api/v3/app/hook/deliveries');
const fallback = front();
const fallbackDesk = { service: 'rest', front: fallback, gate: undefined };
const directory = new FrontDirectory(
  [service('accounts', accounts), service('hooks', hooks), service('deliveries', deliveries)],
  fallbackDesk,
);

describe('FrontDirectory', () => {
  const check = (target: string, expected: ServiceFront) =>
    assert.equal(directory.find(target).front, expected, target);

  it('covers a path, what lies below it, and neither its neighbours nor its parents', () => {
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

  it('refuses two services with one path', () => {
    const twins = [service('one', front('/v2/core')), service('two', front('/v2/core'))];
    assert.throws(() => new FrontDirectory(twins, fallbackDesk), /belongs to one service/);
  });
});
