// Source: accounts, sections 3, 5, 6, 9.2, 10, 17.3 and 18, with several nodes on one database.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AccountsServer,
  EventReceiver,
  type HttpResponse,
  type Json,
  POSTGRES_URL,
  TestDatabase,
} from '../../harness/index.js';

const ACCOUNTS = '/v2/core/accounts';
/** Speed of the nodes' clocks: rotations wait for seconds. */
const SPEED = 3;
const codeOf = ({ text }: HttpResponse): string => JSON.parse(text).error?.code ?? 'ok';
const countOf = (codes: readonly string[], code: string): number =>
  codes.filter((each) => each === code).length;

if (POSTGRES_URL === undefined) {
  it('two nodes on one PostgreSQL', {
    skip: 'set PLINTH_TEST_POSTGRES_URL to a server on which databases may be created',
  });
} else {
  describe('two nodes on one PostgreSQL', () => {
    let database: TestDatabase;
    let one: AccountsServer;
    let other: AccountsServer;
    /** Alternates between the nodes. */
    const node = (index: number): AccountsServer => (index % 2 === 0 ? one : other);

    before(async () => {
      database = await TestDatabase.create();
      const flags = [
        `--server-database-url=${database.url}`,
        '--accounts-allow-private-targets=127.0.0.0/8',
      ];
      const env = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };
      one = await AccountsServer.start({ flags, env, speed: SPEED });
      other = await AccountsServer.start({ flags, env, speed: SPEED });
      await one.settings({ update_concurrency_limit: 1000 });
      await until(async () => {
        const settings = await other.operate('/platforms/plat_default');
        return settings.update_concurrency_limit === 1000;
      });
    });
    after(async () => {
      await one.close();
      await other.close();
      await database[Symbol.asyncDispose]();
    });

    it('rejects a node with the key file of another installation', async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'plinth-test-'));
      try {
        // Creates an unrelated key file by starting a separate server.
        const alone = await AccountsServer.start({ dataDir });
        await alone.process.stop();
        const flags = [`--server-database-url=${database.url}`];
        const env = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };
        await assert.rejects(
          AccountsServer.start({ flags, env, dataDir }),
          /the key file .*keys\.json belongs to a different installation/,
        );
      } finally {
        await rm(dataDir, { recursive: true, force: true });
      }
    });

    it('a node needed the key file of the first one in its folder', async () => {
      for (const node of [one, other]) {
        const path = join(node.process.dataDir, 'accounts', 'keys.json');
        await assert.rejects(access(path), { code: 'ENOENT' });
      }
      const { id } = await one.create({ identity: { country: 'us' } });
      const body = { given_name: 'Ada', id_numbers: [{ type: 'us_ssn', value: '123456789' }] };
      const person = await one.ok(`${ACCOUNTS}/${id}/persons`, { body });
      // The numbers are compared with the numbers that the other node encrypted.
      const same = await other.ok(`${ACCOUNTS}/${id}/persons/${person.id}`, { body });
      assert.equal(same.updated, person.updated);
    });

    it('after a rotation of the key the other nodes needed the new file and a restart', async () => {
      const { id } = await one.create({ identity: { country: 'us' } });
      const numbers = [{ type: 'us_ssn', value: '123456789' }];
      const body = { given_name: 'Ada', id_numbers: numbers };
      const person = await one.ok(`${ACCOUNTS}/${id}/persons`, { body });
      let isRotated = false;
      const rotating = one.operate('/rotate_key', {}).finally(() => {
        isRotated = true;
      });
      const tokens: string[] = [];
      for (let index = 0; !isRotated; index++) {
        const asked = { body: { surname: `kept ${index}` } };
        tokens.push((await node(index).ok(`${ACCOUNTS}/${id}/person_tokens`, asked)).id);
        await sleep(100);
      }
      assert.equal((await rotating).key, 'k2');
      const same = await other.ok(`${ACCOUNTS}/${id}/persons/${person.id}`, { body });
      assert.equal(same.updated, person.updated);
      for (const [index, token] of tokens.entries()) {
        const used = await node(index + 1).ok(`${ACCOUNTS}/${id}/persons`, {
          body: { person_token: token },
        });
        assert.equal(used.surname, `kept ${index}`);
      }
      const flags = [`--server-database-url=${database.url}`];
      const env = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };
      const third = await AccountsServer.start({ flags, env });
      const read = await third.ok(`${ACCOUNTS}/${id}/persons/${person.id}`);
      assert.equal(read.given_name, 'Ada');
      await third.close();
    });

    it('a rotation dropped a key that the other node was still sealing with', async () => {
      const { id } = await one.create({});
      const token = async (node: AccountsServer, surname: string) => {
        const made = await node.ok(`${ACCOUNTS}/${id}/person_tokens`, { body: { surname } });
        const [row] = await database.query(
          `select payload from accounts_tokens where id = '${made.id}'`,
        );
        const sealed = `update accounts_tokens set payload = '${row?.['payload']}' where id = '${made.id}'`;
        return { id: made.id, storeLate: async () => await database.query(sealed) };
      };
      const early = await token(one, 'early');
      const first = one.operate('/rotate_key', {});
      await sleep(4500 / SPEED); // the new key is current by now, but the rotation is still running
      const middle = await token(one, 'middle');
      const second = other.operate('/rotate_key', {});
      const { key } = await first;
      await early.storeLate(); // like a commit encrypted before the first rotation
      assert.notEqual((await second).key, key);
      await middle.storeLate();
      const last = await token(other, 'last');
      for (const { id: used } of [early, middle, last]) {
        for (const node of [one, other]) {
          const body = { person_token: used };
          const response = await node.send(`${ACCOUNTS}/${id}/persons`, { body });
          if (node === one) assert.equal(response.status, 200, response.text);
          else assert.equal(codeOf(response), 'token_already_used', response.text);
        }
      }
      // The next rotation finds the late row and then drops the old keys.
      await one.operate('/rotate_key', {});
      const { data } = await other.ok(`${ACCOUNTS}/${id}/persons?limit=100`);
      assert.deepEqual(data.map(({ surname }: Json) => surname).sort(), [
        'early',
        'last',
        'middle',
      ]);
    });

    async function until(isSo: () => Promise<boolean>): Promise<void> {
      const endMs = Date.now() + 10_000;
      while (!(await isSo())) {
        assert.ok(Date.now() < endMs, 'the other node has not heard of it');
        await sleep(50);
      }
    }

    it('create one account for one idempotency key', async () => {
      const idempotencyKey = randomUUID();
      const body = { metadata: { run: idempotencyKey } };
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          node(index).send(ACCOUNTS, { body, idempotencyKey }),
        ),
      );
      const bodies = new Set(responses.filter(({ status }) => status === 200).map((a) => a.text));
      assert.equal(bodies.size, 1, responses.map(codeOf).join());
      const { data } = await other.ok(`${ACCOUNTS}?limit=100`);
      assert.equal(data.filter(({ metadata }: Json) => metadata.run === idempotencyKey).length, 1);
    });

    it('made an account each of a key whose first request was refused', async () => {
      const idempotencyKey = randomUUID();
      const body = { metadata: { run: idempotencyKey } };
      const limitTo = async (max_accounts: number | null): Promise<void> => {
        await one.settings({ max_accounts });
        await until(async () => {
          const settings = await other.operate('/platforms/plat_default');
          return settings.max_accounts === max_accounts;
        });
      };
      await limitTo(1);
      await one.send(ACCOUNTS, { body: {} });
      const refused = await one.send(ACCOUNTS, { body, idempotencyKey });
      assert.notEqual(refused.status, 200);
      await limitTo(null);
      const responses = await Promise.all(
        [one, other].map((each) => each.send(ACCOUNTS, { body, idempotencyKey })),
      );
      const bodies = new Set(responses.filter(({ status }) => status === 200).map((a) => a.text));
      assert.equal(bodies.size, 1, responses.map(codeOf).join());
      const { data } = await other.ok(`${ACCOUNTS}?limit=100`);
      assert.equal(data.filter(({ metadata }: Json) => metadata.run === idempotencyKey).length, 1);
    });

    it('ran creates again because those of the other node were in the way', async () => {
      const name = new URL(database.url).pathname.slice(1);
      const rolledBack = async (): Promise<number> => {
        await sleep(1500); // the server sums the work of its connections once a second
        const [row] = await database.query(
          `select xact_rollback as count from pg_stat_database where datname = '${name}'`,
        );
        return Number(row?.['count']);
      };
      const before = await rolledBack();
      await Promise.all(
        Array.from({ length: 16 }, async (_, index) => {
          for (let round = 0; round < 20; round++) await node(index).create({});
        }),
      );
      assert.ok((await rolledBack()) - before <= 2);
    });

    it('accept a token once', async () => {
      const { id } = await one.create({});
      const body = { given_name: 'Ada' };
      const token = await other.ok(`${ACCOUNTS}/${id}/person_tokens`, { body });
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          node(index).send(`${ACCOUNTS}/${id}/persons`, { body: { person_token: token.id } }),
        ),
      );
      const codes = responses.map(codeOf);
      assert.equal(countOf(codes, 'ok'), 1, codes.join());
      assert.equal(countOf(codes, 'token_already_used'), 39, codes.join());
    });

    it('lose no change to an account', async () => {
      const { id } = await one.create({});
      const write = async (index: number): Promise<void> => {
        for (let round = 0; round < 10; round++) {
          const body = { metadata: { [`k${index}_${round}`]: 'set' } };
          const change = () => node(index).send(`${ACCOUNTS}/${id}`, { body });
          let response = await change();
          // A slower node may lose many rounds in a row. Its client then has to retry.
          for (let left = 20; response.status === 429 && left > 0; left--)
            response = await change();
          assert.equal(response.status, 200, response.text);
        }
      };
      await Promise.all([0, 1, 2, 3].map(write));
      const account = await one.ok(`${ACCOUNTS}/${id}`);
      assert.equal(Object.keys(account.metadata).length, 40);
    });

    it('read data written through the other node', async () => {
      const { id } = await one.create({ display_name: 'first' });
      assert.equal((await other.ok(`${ACCOUNTS}/${id}`)).display_name, 'first');
      await other.ok(`${ACCOUNTS}/${id}`, { body: { display_name: 'second' } });
      assert.equal((await one.ok(`${ACCOUNTS}/${id}`)).display_name, 'second');
    });

    it('limit a test clock to three accounts', async () => {
      const clock = await one.ok('/v1/test_helpers/test_clocks', {
        body: { frozen_time: 1_700_000_000 },
      });
      const body = { configuration: { customer: { test_clock: clock.id } } };
      const responses = await Promise.all(
        Array.from({ length: 12 }, (_, index) => node(index).send(ACCOUNTS, { body })),
      );
      const codes = responses.map(codeOf);
      assert.equal(countOf(codes, 'ok'), 3, codes.join());
      assert.equal(countOf(codes, 'test_clocks_customer_limit_reached'), 9, codes.join());
    });

    it('know keys that the other node created or revoked', async () => {
      const path = '/platforms/plat_default/keys';
      const key = await one.operate(path, { kind: 'secret', livemode: false });
      const status = async () => (await other.send(ACCOUNTS, { key: key.value })).status;
      await until(async () => (await status()) === 200);
      await one.operate(`${path}/${key.id}`, undefined, 'DELETE');
      await until(async () => (await status()) === 401);
    });

    it('deliver events to a destination just created on the other node', async () => {
      await using receiver = await EventReceiver.start();
      for (let round = 0; round < 5; round++) {
        const destination = await one.ok('/v2/core/event_destinations', {
          body: {
            name: 'just made',
            type: 'webhook_endpoint',
            event_payload: 'thin',
            enabled_events: ['v2.core.account.created'],
            webhook_endpoint: { url: receiver.url },
          },
        });
        const { id } = await other.create({});
        await receiver.event(({ related_object }) => related_object.id === id);
        await one.ok(`/v2/core/event_destinations/${destination.id}`, { method: 'DELETE' });
      }
    });

    it('deliver an event once', async () => {
      await using receiver = await EventReceiver.start();
      const destination = await one.ok('/v2/core/event_destinations', {
        body: {
          name: 'both',
          type: 'webhook_endpoint',
          event_payload: 'thin',
          enabled_events: ['v2.core.account.created'],
          webhook_endpoint: { url: receiver.url },
        },
      });
      const path = `/v2/core/event_destinations/${destination.id}`;
      await until(async () => (await other.send(path)).status === 200);
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, index) => node(index).create({})),
      );
      const ids = new Set(made.map(({ id }) => id));
      await until(async () => receiver.received.length >= ids.size);
      await sleep(1500);
      const told = receiver.received.map(({ body }) => JSON.parse(body).related_object.id);
      assert.deepEqual([...told].sort(), [...ids].sort());
    });

    it('report not found for strings that the database cannot store', async () => {
      const { id } = await one.create({});
      for (const path of [
        `${ACCOUNTS}/acct_%00`,
        `${ACCOUNTS}/${id}/persons/person_%00`,
        `${ACCOUNTS}/${id}/person_tokens/perstok_%00`,
        '/v2/core/events/evt_test_%00',
        '/v1/test_helpers/test_clocks/clock_%00',
      ]) {
        await one.refused(path, {}, { code: 'unrecognized_url', status: 404 });
      }
      const body = { account_token: 'accttok_\u0000' };
      await one.refused(ACCOUNTS, { body }, { code: 'invalid_fields', param: 'account_token' });
      await one.refused('/v2/core/events?object_id=%00', {}, { code: 'invalid_fields' });
    });
  });

  it("imports a folder's keys into the database, and does not start without either", async () => {
    const database = await TestDatabase.create();
    const dataDir = await mkdtemp(join(tmpdir(), 'plinth-test-'));
    const flags = [`--server-database-url=${database.url}`];
    const env = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };
    const ssn = { given_name: 'Ada', id_numbers: [{ type: 'us_ssn', value: '123456789' }] };
    try {
      // Key file from a version in which each node had its own.
      await (await AccountsServer.start({ dataDir })).process.stop();
      const first = await AccountsServer.start({ flags, env, dataDir });
      const { id } = await first.create({ identity: { country: 'us' } });
      const person = await first.ok(`${ACCOUNTS}/${id}/persons`, { body: ssn });
      await first.process.stop();
      await database.query("delete from accounts_meta where name = 'sealing_keys'");
      await assert.rejects(
        AccountsServer.start({ flags, env }),
        /key file .* is missing.*start the node that has the file first/,
      );
      await (await AccountsServer.start({ flags, env, dataDir })).process.stop();
      const second = await AccountsServer.start({ flags, env });
      const same = await second.ok(`${ACCOUNTS}/${id}/persons/${person.id}`, { body: ssn });
      assert.equal(same.updated, person.updated);
      await second.close();
      const other = { PLINTH_MASTER_KEY: 'another key than that of the other nodes' };
      await assert.rejects(
        AccountsServer.start({ flags, env: other }),
        /cannot be decrypted with this master key/,
      );
    } finally {
      await rm(dataDir, { recursive: true, force: true });
      await database[Symbol.asyncDispose]();
    }
  });

  it('creates no second set of keys in a database that was started with a key file', async () => {
    const database = await TestDatabase.create();
    const dataDir = await mkdtemp(join(tmpdir(), 'plinth-test-'));
    const flags = [`--server-database-url=${database.url}`];
    const env = { PLINTH_MASTER_KEY: 'one key for all the nodes of this test' };
    try {
      await (await AccountsServer.start({ dataDir })).process.stop();
      await (await AccountsServer.start({ flags, env, dataDir })).process.stop();
      // State left by a node that stopped during its first start.
      await database.query("delete from accounts_meta where name = 'sealing_keys'");
      await database.query('delete from accounts_platforms');
      await assert.rejects(
        AccountsServer.start({ flags, env }),
        /key file .* is missing.*start the node that has the file first/,
      );
      await (await AccountsServer.start({ flags, env, dataDir })).process.stop();
      await (await AccountsServer.start({ flags, env })).close();
      await database.query("update accounts_meta set value = 'other' where name = 'key_file'");
      await assert.rejects(
        AccountsServer.start({ flags, env }),
        /keys in the database .*restore the complete database/,
      );
    } finally {
      await rm(dataDir, { recursive: true, force: true });
      await database[Symbol.asyncDispose]();
    }
  });
}
