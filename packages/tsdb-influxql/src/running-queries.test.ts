import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '@plinth/kernel/testing';
import { type DatabaseAccess, FULL_ACCESS } from '@plinth/tsdb-model/database/database-access.js';
import { RunningQueries } from './running-queries.js';

it('lets only owners and administrators list and kill queries', () => {
  const running = new RunningQueries(new ManualClock(0));
  const killed: string[] = [];
  for (const owner of ['a', 'b']) {
    running.add({ owner, text: owner, database: 'd', kill: () => killed.push(owner) });
  }
  const of = (owner: string): DatabaseAccess => ({ ...FULL_ACCESS, isAdministrator: false, owner });
  const seen = (access: DatabaseAccess) => running.list(access).map(({ text }) => text);
  assert.deepEqual([seen(of('a')), seen(of('c')), seen(FULL_ACCESS)], [['a'], [], ['a', 'b']]);
  // The error is the same whether or not the query exists.
  for (const id of [2n, 3n]) {
    assert.throws(() => running.kill(id, of('a')), { message: `no such query id: ${id}` });
  }
  running.kill(1n, of('a'));
  running.kill(2n, FULL_ACCESS);
  assert.deepEqual(killed, ['a', 'b']);
});
