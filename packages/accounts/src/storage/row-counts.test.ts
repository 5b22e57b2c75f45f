import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeFileSystem, openRelationalStore, SystemClock } from '@plinth/kernel';
import { temporaryFolder } from '@plinth/kernel/testing';
import { sql } from 'kysely';
import { ACCOUNT_MIGRATIONS } from './account-tables.js';
import { RowCounter } from './row-counts.js';

/** More than two slices, and not a multiple of the slice size. */
const COUNT = 12_001;

it('counts every row once across slice boundaries', async (context) => {
  const directory = await temporaryFolder();
  const clock = new SystemClock();
  const fileSystem = new NodeFileSystem();
  const store = await openRelationalStore({ path: join(directory, 'db'), clock, fileSystem });
  context.after(() => store.close());
  await store.migrate('accounts', ACCOUNT_MIGRATIONS);
  const numbers = sql.raw(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${COUNT})`,
  );
  // Ids are ordered differently from the numbers. Every third is closed, every fourth live, every
  // fifth has a deadline.
  await store.transaction(async (tx) => {
    await sql`${numbers} insert into accounts_accounts
      (id, tenant, created_ms, is_closed, configurations, flags, head, body, due_ms)
      select 'acct_' || (n * 7919 % 1000003), case when n % 4 = 0 then 'p:live' else 'p:test' end, n,
        case when n % 3 = 0 then 1 else 0 end, n % 8, 0, '', '', case when n % 5 = 0 then n end
      from numbers`.execute(tx);
    await sql`${numbers} insert into accounts_persons (id, tenant, account_id, created_ms, body)
      select 'person_' || n, case when n % 4 = 0 then 'p:live' else 'p:test' end, '', n, ''
      from numbers`.execute(tx);
  });
  const counter = new RowCounter(store, clock);
  for (let turn = 0; counter.latest === undefined; turn += 1) {
    assert.ok(turn < 600, 'not counted within a minute');
    await sleep(100);
  }
  const { accounts = [], persons = [] } = counter.latest ?? {};
  const all = Array.from({ length: COUNT }, (_, index) => index + 1);
  const countOf = (isWanted: (n: number) => boolean) => all.filter(isWanted).length;
  for (const isLive of [false, true]) {
    for (const isClosed of [false, true]) {
      for (const configurations of [0, 1, 2, 3, 4, 5, 6, 7]) {
        const isWanted = (n: number) =>
          (n % 4 === 0) === isLive && (n % 3 === 0) === isClosed && n % 8 === configurations;
        const expected = {
          ...{ isLive, isClosed, configurations },
          count: countOf(isWanted),
          datedCount: countOf((n) => isWanted(n) && n % 5 === 0),
        };
        const found = accounts.filter(
          (one) =>
            one.isLive === isLive &&
            one.isClosed === isClosed &&
            one.configurations === configurations,
        );
        assert.deepEqual(found, expected.count === 0 ? [] : [expected]);
      }
    }
  }
  assert.deepEqual(persons, [
    { isLive: false, count: countOf((n) => n % 4 !== 0) },
    { isLive: true, count: countOf((n) => n % 4 === 0) },
  ]);
  await counter.close();
});
