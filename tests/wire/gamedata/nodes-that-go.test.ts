// Source: gamedata, sections 6.3 and 6.5, and scale, section 4.3: killed nodes and an unavailable database.
// Own process: nodes are killed.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  layDatabaseCable,
  type OwnServer,
  POSTGRES_URL,
  ServerInProcess,
  until,
} from '../../harness/index.js';
import {
  done,
  edit,
  gamedataNodes,
  isOpen,
  NODE,
  type Response,
  untilEqual,
} from './shared-nodes.js';

const SKIP = POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL';
const EDITOR_COUNT = 10;
const EDITS_EACH = 25;

it('acknowledged drafts were lost with the node that had them in memory', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const processes = await Promise.all([
    nodes.startProcess(),
    nodes.startProcess(),
    nodes.startProcess(),
  ]);
  const servers: OwnServer[] = [...processes];
  for (const server of servers) await until(() => isOpen(server), 'a node serves');
  /** By record: the number of the last acknowledged edit, and of the last sent edit. */
  const wanted = new Map<string, { acknowledged: number; asked: number }>();
  let isDone = false;
  const any = (): OwnServer => servers[Math.floor(Math.random() * 3)] as OwnServer;
  /** Retries until a node responds, since a killed node does not. */
  const insist = async (send: (server: OwnServer) => Promise<Response>): Promise<Response> => {
    for (;;) {
      const response = await send(any()).catch(() => undefined);
      if (response !== undefined && response.status !== 503) return response;
      await sleep(20);
    }
  };

  const editing = Array.from({ length: EDITOR_COUNT }, async (_, editor) => {
    for (let index = 0; index < EDITS_EACH; index++) {
      const id = `record-${editor}-${index % 5}`;
      const known = wanted.get(id);
      const number = (known?.asked ?? 0) + 1;
      const entry = { acknowledged: known?.acknowledged ?? 0, asked: number };
      wanted.set(id, entry);
      const key = { 'idempotency-key': randomUUID() };
      const body = { id, name: `edit ${number}`, category: 'barter' };
      const response = await insist((server) =>
        known === undefined
          ? edit(server, 'POST', 'items', body, key)
          : edit(server, 'PUT', `items/${id}`, body),
      );
      assert.equal(response.status, 200, JSON.stringify(response.json));
      entry.acknowledged = number;
    }
  });
  const publishing = (async () => {
    while (!isDone) {
      const saved = await insist((server) => edit(server, 'POST', 'save', { message: 'by turns' }));
      assert.equal(saved.status, 200, JSON.stringify(saved.json));
      await sleep(300);
    }
  })();
  const killing = (async () => {
    for (const [index, victim] of processes.entries()) {
      await sleep(1000);
      await victim.kill();
      servers[index] = await nodes.start({ dataDir: victim.dataDir });
    }
  })();
  await Promise.all([...editing, killing]);
  isDone = true;
  await publishing;
  for (const server of servers) await until(() => isOpen(server), 'a node serves');

  await untilEqual(servers);
  for (const server of servers) {
    for (const [id, { acknowledged }] of wanted) {
      const { json } = await done(server, 'GET', `items/${id}`);
      assert.equal(json['name'], `edit ${acknowledged}`, id);
    }
  }
  await done(any(), 'POST', 'save');
  await untilEqual(servers);
  const { text } = await any().http.send('/api/items?limit=5000');
  const names = new Map<string, string>(
    JSON.parse(text).items.map(({ id, name }: { id: string; name: string }) => [id, name]),
  );
  for (const [id, { acknowledged }] of wanted) assert.equal(names.get(id), `edit ${acknowledged}`);
});

it('an editor got 500 while PostgreSQL was away, and readers nothing', {
  skip: SKIP,
}, async (context) => {
  const { cable, databaseFlag } = await layDatabaseCable(context);
  const server = await ServerInProcess.start({ ...NODE, flags: [...NODE.flags, databaseFlag] });
  context.after(() => server.close());
  await until(() => isOpen(server), 'the node serves');
  await done(server, 'POST', 'items', { id: 'kept', name: 'kept', category: 'barter' });

  cable.cut();
  const changes = [
    ['POST', 'items', { id: 'new', name: 'new', category: 'barter' }],
    ['PATCH', 'items/kept', { name: 'other' }],
    ['DELETE', 'items/kept', undefined],
    ['POST', 'save', undefined],
    ['POST', 'discard', undefined],
    ['POST', 'undo', undefined],
    ['POST', 'versions/1/restore', undefined],
    ['POST', 'import', { format: 'plinth-gamedata/1', kinds: {} }],
  ] as const;
  for (const [method, path, body] of changes) {
    const { status, headers, json } = await edit(server, method, path, body);
    assert.deepEqual([status, json['code']], [503, 'unavailable'], `${method} ${path}`);
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  }
  assert.equal((await server.http.send('/api/items?limit=1')).status, 200);
  assert.equal((await edit(server, 'GET', 'items/kept')).json['name'], 'kept');
  const ready = async () => await server.http.send('/ready');
  assert.equal((await ready()).status, 503);
  await until(
    async () => /storage cannot be reached/.test((await ready()).text),
    'it names the obstacle',
  );

  await cable.join();
  await until(async () => (await server.http.send('/ready')).status === 200, 'it is ready again');
  const saved = await done(server, 'POST', 'save');
  assert.equal(saved.json['changed'], 1);
});

it('edits waited for ever while PostgreSQL was frozen, and the node said that it was ready', {
  skip: SKIP,
}, async (context) => {
  const { cable, databaseFlag } = await layDatabaseCable(context);
  const server = await ServerInProcess.start({ ...NODE, flags: [...NODE.flags, databaseFlag] });
  context.after(() => server.close());
  await until(() => isOpen(server), 'the node serves');

  cable.hush();
  const bodies = Array.from({ length: 5 }, (_, index) => ({
    ...{ id: `frozen-${index}`, name: 'frozen', category: 'barter' },
  }));
  const responses = await Promise.all(bodies.map((body) => edit(server, 'POST', 'items', body)));
  for (const { status, headers } of responses) {
    assert.equal(status, 503);
    assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  }
  assert.equal((await server.http.send('/api/items?limit=1')).status, 200);
  await until(async () => (await server.http.send('/ready')).status === 503, 'it is not ready');
  const behind = /^plinth_gamedata_behind_seconds (\S+)$/m;
  await until(async () => {
    const { text } = await server.http.send('/metrics');
    return Number(behind.exec(text)?.[1]) > 1;
  }, 'the metric tells of it');

  cable.cut();
  await cable.join();
  await until(async () => (await server.http.send('/ready')).status === 200, 'it is ready again');
  for (const body of bodies) await done(server, 'POST', 'items', body);
});

it('a node that shared a database for the first time began with nothing of its folder', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const alone = await ServerInProcess.start(NODE);
  try {
    await until(() => isOpen(alone), 'the node serves');
    await done(alone, 'POST', 'items', { id: 'own', name: 'published', category: 'barter' });
    await done(alone, 'POST', 'save');
    await done(alone, 'POST', 'items', { id: 'draft', name: 'a draft', category: 'barter' });
    await done(alone, 'PATCH', 'items/own', { name: 'changed since' });
    const { dataDir } = alone;
    await alone.stop();

    const shared = await nodes.start({ dataDir });
    await until(() => isOpen(shared), 'the node serves');
    const second = await nodes.start();
    await until(() => isOpen(second), 'the second node serves');
    await untilEqual([shared, second]);
    const { text } = await second.http.send('/api/items/own');
    assert.equal(JSON.parse(text).name, 'published');
    assert.equal((await edit(second, 'GET', 'items/own')).json['name'], 'changed since');
    assert.equal((await edit(second, 'GET', 'items/draft')).status, 200);
    const { json } = await done(second, 'GET', 'history?id=own');
    assert.equal(json['total'], 2);
    assert.equal((await second.http.send('/api/items?version=1')).status, 200);
    assert.equal((await done(second, 'POST', 'save')).json['version'], 3);
    await shared.stop();

    // Data is migrated once: neither a second start nor another folder migrates data again.
    const again = await nodes.start({ dataDir });
    await until(() => isOpen(again), 'the node serves');
    await untilEqual([again, second]);
  } finally {
    await alone.close();
  }
});
