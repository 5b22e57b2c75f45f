// Source: accounts, sections 18 (deleting a clock closes its accounts) and 19 (one request is one commit).
// Own process: it is killed.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccountsServer,
  Chance,
  type Json,
  type ServerInProcess,
  type ServerProcess,
} from '../harness/index.js';

const ROUND_COUNT = 5;
const CLOCK_COUNT = 12;
const MAX_LIFE_MS = 60;
const CLOCKS = '/v1/test_helpers/test_clocks';

interface ClockWithAccounts {
  readonly id: string;
  readonly accountIds: readonly string[];
}

async function makeClock(server: AccountsServer): Promise<ClockWithAccounts> {
  const { id } = await server.ok(CLOCKS, { body: { frozen_time: 1_700_000_000 } });
  const body = { configuration: { customer: { test_clock: id } } };
  const made = await Promise.all([1, 2, 3].map(() => server.create(body)));
  return { id, accountIds: made.map((account: Json) => account.id) };
}

it('a test clock is deleted together with its accounts, whenever the server is killed', async (test) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-crash-clocks-'));
  const chance = new Chance(3);
  let deletedCount = 0;
  let server: AccountsServer<ServerInProcess | ServerProcess> = await AccountsServer.startProcess({
    dataDir,
  });
  for (let round = 0; round < ROUND_COUNT; round++) {
    const clocks: ClockWithAccounts[] = [];
    const current = server;
    for (let index = 0; index < CLOCK_COUNT; index++) clocks.push(await makeClock(current));
    const acknowledged = new Set<string>();
    const deleting = clocks.map(async ({ id }) => {
      const response = await current.send(`${CLOCKS}/${id}`, { method: 'DELETE' });
      assert.equal(response.status, 200, response.text);
      acknowledged.add(id);
    });
    const ended = Promise.allSettled(deleting);
    await sleep(chance.between(0, MAX_LIFE_MS));
    await current.process.kill();
    // Connections break when the server dies. Any other error is a failure.
    for (const result of await ended) {
      const error: unknown = result.status === 'rejected' ? result.reason : undefined;
      if (error instanceof assert.AssertionError) throw error;
    }
    // The last server is only checked.
    server = await (round < ROUND_COUNT - 1
      ? AccountsServer.startProcess({ dataDir })
      : AccountsServer.start({ dataDir }));
    for (const { id, accountIds } of clocks) {
      const { status } = await server.send(`${CLOCKS}/${id}`);
      const isGone = status === 404;
      if (isGone) deletedCount += 1;
      assert.ok(isGone || !acknowledged.has(id), 'an acknowledged deletion is there');
      for (const accountId of accountIds) {
        const account = await server.ok(`/v2/core/accounts/${accountId}`);
        assert.equal(account.closed, isGone, `${accountId} of ${id}`);
      }
    }
  }
  await server.close();
  test.diagnostic(`${deletedCount} of ${ROUND_COUNT * CLOCK_COUNT} clocks were deleted`);
  await rm(dataDir, { recursive: true });
});
