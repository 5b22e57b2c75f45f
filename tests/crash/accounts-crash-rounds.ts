import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccountsServer,
  Chance,
  type Json,
  type ServerInProcess,
  type ServerProcess,
} from '../harness/index.js';

const WRITER_COUNT = 6;
const MAX_LIFE_MS = 900;
const ACCOUNTS = '/v2/core/accounts';

/** A create request that was sent; `response` is set when it was acknowledged. */
interface SentCreate {
  readonly key: string;
  readonly body: object;
  response: string | undefined;
}

/** A token that was sent in a request. */
interface SentUse {
  readonly accountId: string;
  readonly token: string;
  readonly key: string;
  response: string | undefined;
}

export interface AccountsCrashOptions {
  readonly seed: number;
  readonly roundCount: number;
  readonly report: (line: string) => void;
}

/** Works on one data folder. Each round consists of writes, a kill at a random moment, a restart and a complete check. */
export async function runAccountsCrashRounds(options: AccountsCrashOptions): Promise<void> {
  const { seed, roundCount, report } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'plinth-crash-accounts-'));
  const chance = new Chance(seed);
  const allKeys = new Map<string, number>();
  let server: AccountsServer<ServerInProcess | ServerProcess> = await AccountsServer.startProcess({
    dataDir,
  });
  try {
    for (let round = 1; round <= roundCount; round++) {
      const sent = await loadAndKill(server, chance);
      // The last server is not killed under load.
      server = await (round < roundCount
        ? AccountsServer.startProcess({ dataDir })
        : AccountsServer.start({ dataDir }));
      const outcome = await verify(server, sent, allKeys);
      report(`seed ${seed}, round ${round} of ${roundCount}: ${outcome}`);
    }
    await verifyWhole(server, allKeys);
  } finally {
    await server.process.kill();
  }
  await rm(dataDir, { recursive: true });
}

interface Sent {
  readonly creates: SentCreate[];
  readonly uses: SentUse[];
}

async function loadAndKill(
  server: AccountsServer<ServerInProcess | ServerProcess>,
  chance: Chance,
): Promise<Sent> {
  const sent: Sent = { creates: [], uses: [] };
  const lifeMs = chance.between(0, MAX_LIFE_MS);
  await server.settings({ update_concurrency_limit: 100 });
  const writers = Array.from({ length: WRITER_COUNT }, () => writeUntilDeath(server, sent));
  await sleep(lifeMs);
  await server.process.kill();
  await Promise.all(writers);
  return sent;
}

/** Runs until the server dies. A request without a response may or may not have been executed. */
async function writeUntilDeath(server: AccountsServer, sent: Sent): Promise<void> {
  try {
    for (;;) {
      const key = randomUUID();
      const create: SentCreate = { key, body: { metadata: { key } }, response: undefined };
      sent.creates.push(create);
      const made = await server.send(ACCOUNTS, { body: create.body, idempotencyKey: key });
      assert.equal(made.status, 200, made.text);
      create.response = made.text;
      const { id } = JSON.parse(made.text);
      const token = await server.ok(`${ACCOUNTS}/${id}/person_tokens`, {
        body: { given_name: 'Ada' },
      });
      const use: SentUse = {
        accountId: id,
        token: token.id,
        key: randomUUID(),
        response: undefined,
      };
      sent.uses.push(use);
      const used = await useToken(server, use);
      assert.equal(used.status, 200, used.text);
      use.response = used.text;
    }
  } catch (error) {
    // The connection breaks when the server dies. Any other error is a failure.
    if (error instanceof assert.AssertionError) throw error;
  }
}

const useToken = (server: AccountsServer, { accountId, token, key }: SentUse) =>
  server.send(`${ACCOUNTS}/${accountId}/persons`, {
    body: { person_token: token },
    idempotencyKey: key,
  });

async function verify(
  server: AccountsServer,
  { creates, uses }: Sent,
  allKeys: Map<string, number>,
): Promise<string> {
  for (const { key, body, response } of creates) {
    const again = await server.send(ACCOUNTS, { body, idempotencyKey: key });
    assert.equal(again.status, 200, again.text);
    if (response !== undefined) {
      assert.equal(again.text, response, 'an acknowledged create is there, as it was answered');
      assert.equal(again.headers['idempotent-replayed'], 'true');
    }
    const { id } = JSON.parse(again.text);
    const events = await server.ok(`/v2/core/events?object_id=${id}&limit=100`);
    const created = events.data.filter(({ type }: Json) => type === 'v2.core.account.created');
    assert.equal(created.length, 1, 'an account and its event are there together');
    allKeys.set(key, 0);
  }
  for (const use of uses) {
    const path = `${ACCOUNTS}/${use.accountId}`;
    const token = await server.ok(`${path}/person_tokens/${use.token}`);
    const before = (await server.ok(`${path}/persons`)).data.length;
    assert.equal(before, token.used ? 1 : 0, 'no token is half used');
    if (use.response !== undefined) assert.equal(token.used, true);
    const again = await useToken(server, use);
    assert.equal(again.status, 200, again.text);
    if (use.response !== undefined) assert.equal(again.text, use.response);
    assert.equal((await server.ok(`${path}/persons`)).data.length, 1);
  }
  const acknowledged = creates.filter(({ response }) => response !== undefined).length;
  return `${acknowledged} of ${creates.length} creates and ${uses.length} uses of tokens right`;
}

/** Asserts that every key created exactly one account, over all rounds. */
async function verifyWhole(server: AccountsServer, allKeys: Map<string, number>): Promise<void> {
  let url: string | null = `${ACCOUNTS}?limit=100`;
  while (url !== null) {
    const page: Json = await server.ok(url);
    for (const { metadata } of page.data) {
      allKeys.set(metadata.key, (allKeys.get(metadata.key) ?? 0) + 1);
    }
    url = page.next_page_url;
  }
  for (const [key, count] of allKeys) assert.equal(count, 1, key);
  assert.equal(await server.process.stop(), 0);
}
