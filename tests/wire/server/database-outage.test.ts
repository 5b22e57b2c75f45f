// Source: architecture; a database that is away is no reason for the services to end.
import assert from 'node:assert/strict';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccountsServer, KEYS, POSTGRES_URL, TestDatabase } from '../../harness/index.js';

const ACCOUNTS = '/v2/core/accounts';
/** Longer than the intervals of the jobs that look every second. */
const OUTAGE_MS = 3000;

/** A way to a server that can be cut and joined again. */
class Cable {
  readonly #to: URL;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  port = 0;

  constructor(to: URL) {
    this.#to = to;
  }

  async join(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(Number(this.#to.port || 5432), this.#to.hostname);
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => {}); // the end follows
        socket.on('close', () => {
          this.#sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.#server = server;
    this.port = (server.address() as { port: number }).port; // it listens on TCP
  }

  cut(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

it('an outage of PostgreSQL fails requests that need it, and nothing else', {
  skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
}, async (context) => {
  const database = await TestDatabase.create();
  context.after(() => database[Symbol.asyncDispose]());
  const url = new URL(database.url);
  url.password ||= 'a-password-of-no-use';
  const cable = new Cable(url);
  await cable.join();
  context.after(() => cable.cut());
  const throughCable = new URL(url);
  throughCable.hostname = '127.0.0.1';
  throughCable.port = String(cable.port);
  const server = await AccountsServer.start({
    flags: [
      `--server-database-url=${throughCable.href}`,
      '--services=tsdb,accounts,webhooks,ratelimit,gamedata',
    ],
  });
  context.after(() => server.close());
  const first = await server.send(ACCOUNTS, { body: { display_name: 'before' } });
  assert.equal(first.status, 200);
  // What it keeps is opened by then.
  assert.equal((await server.process.http.send('/api/items?limit=1')).status, 200);

  cable.cut();
  const idempotencyKey = 'kept over the outage';
  const again = { body: { display_name: 'after' }, idempotencyKey };
  assert.equal((await server.send(ACCOUNTS, again)).status, 500);
  await sleep(OUTAGE_MS);
  assert.ok(server.process.isRunning, server.process.logText);
  assert.equal((await server.process.http.send('/api/items?limit=1')).status, 200);
  assert.equal((await server.process.http.send('/health')).status, 200);
  // The driver hangs its client on its errors, with the password of the database.
  assert.ok(!server.process.logText.includes(url.password), 'the password is in the log');
  assert.ok(!server.process.logText.includes('connectionParameters'), 'the driver is in the log');

  await cable.join();
  await sleep(1500);
  const second = await server.send(ACCOUNTS, again);
  assert.equal(second.status, 200, second.text);
  const found = await server.send(`${ACCOUNTS}/${JSON.parse(first.text).id}`, {
    key: KEYS.sk_test,
  });
  assert.equal(found.status, 200);
});
