// Source: gamedata, section 6, and scale, section 4.3: actions of one node during an operation of
// another.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { POSTGRES_URL, ServerInProcess, type TestDatabase, until } from '../../harness/index.js';
import { done, edit, gamedataNodes, isOpen, NODE, shownBy, untilEqual } from './shared-nodes.js';

const SKIP = POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL';
const ALONE = ['--gamedata-sample=false'];
const thing = (id: string, name = `thing ${id}`) => ({ id, name, category: 'barter' });

/** Locks the row that every change of game data needs. */
const holdChanges = (database: TestDatabase) =>
  database.hold('select * from gamedata_state for update');

const waitingCount = async (database: TestDatabase): Promise<number> => {
  const rows = await database.query(`select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return Number(rows[0]?.['count']);
};

async function metric(node: ServerInProcess, name: string): Promise<number> {
  const { text } = await node.http.send('/metrics');
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  assert.ok(found !== undefined, `${name} is not among the metrics`);
  return Number(found);
}

const behindSec = (node: ServerInProcess) => metric(node, 'plinth_gamedata_behind_seconds');
const isReady = async (node: ServerInProcess) => (await node.http.send('/ready')).status === 200;

it('an import undid what another node changed while it waited for its turn', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const [one, other] = await Promise.all([nodes.start(), nodes.start()]);
  for (const node of [one, other]) await until(() => isOpen(node), 'a node serves');
  await untilEqual([one, other]);
  const { json: set } = await done(one, 'GET', 'export');
  const [edited, imported] = [randomUUID(), randomUUID()];

  const held = await holdChanges(nodes.database);
  const editing = edit(other, 'POST', 'items', thing(edited));
  await until(async () => (await waitingCount(nodes.database)) === 1, 'the edit waits');
  const kinds = { items: [thing(imported)] };
  const importing = edit(one, 'POST', 'import?mode=merge', { ...set, kinds });
  await until(async () => (await waitingCount(nodes.database)) === 2, 'the import waits');
  await held[Symbol.asyncDispose]();

  assert.deepEqual([(await editing).status, (await importing).status], [200, 200]);
  for (const node of [one, other]) {
    for (const id of [edited, imported]) {
      const isThere = async () => (await edit(node, 'GET', `items/${id}`)).status === 200;
      await until(isThere, `${id === edited ? 'the edit' : 'the import'} is there`);
    }
  }
  await untilEqual([one, other]);
});

it('an import that waited made its node lag behind the others, though it held up itself', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const node = await nodes.start();
  await until(() => isOpen(node), 'the node serves');
  const { json: set } = await done(node, 'GET', 'export');
  const held = await holdChanges(nodes.database);
  const importing = edit(node, 'POST', 'import?mode=merge', { ...set, kinds: { items: [] } });
  await until(async () => (await waitingCount(nodes.database)) === 1, 'the import waits');
  const before = await behindSec(node);
  await sleep(700);
  assert.equal(await behindSec(node), before);
  await held[Symbol.asyncDispose]();
  assert.equal((await importing).status, 200);
});

it('a node whose reading failed after its own publication took itself for up to date', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const node = await nodes.start();
  await until(() => isOpen(node), 'the node serves');
  await done(node, 'POST', 'items', thing('published'));
  // Hides the versions as soon as the publication commits.
  await nodes.database.query(`
    create function hide_versions() returns trigger language plpgsql as $$ begin
      alter table gamedata_versions rename to hidden_versions;
      return null;
    end $$;
    create trigger hide_versions after update of base_seq on gamedata_state
      for each row when (old.base_seq <> new.base_seq) execute function hide_versions()`);
  await done(node, 'POST', 'save');
  await until(async () => (await behindSec(node)) > 2, 'it is behind');
  await nodes.database.query(`
    drop trigger hide_versions on gamedata_state;
    alter table hidden_versions rename to gamedata_versions`);
  await until(async () => (await behindSec(node)) < 1, 'it has read all');
  assert.equal((await node.http.send('/api/items/published')).status, 200);
  assert.equal(await isReady(node), true);
});

it('a damaged newest version took all services of a node from the balancer, though an older one was served', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const first = await nodes.start();
  await until(() => isOpen(first), 'the node serves');
  const objects = async () =>
    (await nodes.database.query('select name from gamedata_objects')).map(({ name }) => `${name}`);
  const old = new Set(await objects());
  await done(first, 'POST', 'items', thing('lost'));
  await done(first, 'POST', 'save');
  await first.stop();
  const damaged = (await objects()).filter((name) => !old.has(name));
  assert.ok(damaged.length > 0);
  const names = damaged.map((name) => `'${name}'`).join();
  await nodes.database.query(`update gamedata_objects set bytes = '' where name in (${names})`);

  const second = await nodes.start();
  await until(() => isOpen(second), 'the node serves');
  assert.equal(await metric(second, 'plinth_gamedata_version'), 1);
  assert.equal(await metric(second, 'plinth_gamedata_degraded'), 1);
  assert.equal((await second.http.send('/ready')).status, 200);
  await until(
    async () => second.logText.includes('version of the game data cannot be read'),
    'log',
  );
});

it('records of a publication that had failed were named after another node had removed them', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const first = await nodes.start();
  await until(() => isOpen(first), 'the node serves');
  await done(first, 'POST', 'items', thing('late'));
  await nodes.database.query(
    'alter table gamedata_versions add constraint no_more check (version < 2)',
  );
  assert.equal((await edit(first, 'POST', 'save')).status, 500);
  // Simulates the passing of an hour.
  await nodes.database.query('update gamedata_objects set put_ms = 0');
  const second = await nodes.start();
  await until(() => isOpen(second), 'the second node serves');
  await nodes.database.query('alter table gamedata_versions drop constraint no_more');

  assert.equal((await done(first, 'POST', 'save')).json['version'], 2);
  const third = await nodes.start();
  await until(() => isOpen(third), 'the third node serves');
  assert.equal((await third.http.send('/api/items/late')).status, 200);
  await untilEqual([first, second, third]);
  const old = await nodes.database.query(
    `select name from gamedata_objects where put_ms = 0 and exists
      (select 1 from gamedata_versions where version = 2 and manifest like
        '%' || substr(name, length('gamedata/lines/') + 1) || '%')`,
  );
  assert.deepEqual(old, [], 'what was named just now counts as old');
});

it('drafts made before any publication kept a folder from coming into the database, and its node from serving', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const alone = await ServerInProcess.start(NODE);
  try {
    await until(() => isOpen(alone), 'the node serves');
    await done(alone, 'POST', 'items', thing('of-the-folder'));
    await done(alone, 'POST', 'save');
    const { dataDir } = alone;
    await alone.stop();
    const first = await nodes.start({ flags: ALONE });
    await until(() => isOpen(first), 'the first node serves');
    await done(first, 'POST', 'items', thing('a-draft'));
    const second = await nodes.start({ dataDir, flags: ALONE });
    await until(() => isOpen(second), 'the node with the folder serves');
    assert.equal((await edit(second, 'GET', 'items/a-draft')).status, 200);
    assert.equal((await edit(second, 'GET', 'items/of-the-folder')).status, 404);
    assert.equal(await shownBy(second), await shownBy(first));
  } finally {
    await alone.close();
  }
});

it('drafts of a folder without any version were left behind without a word', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const alone = await ServerInProcess.start({ ...NODE, flags: [...NODE.flags, ...ALONE] });
  try {
    await until(() => isOpen(alone), 'the node serves');
    await done(alone, 'POST', 'items', thing('a-draft'));
    const { dataDir } = alone;
    await alone.stop();
    const shared = await nodes.start({ dataDir, flags: ALONE });
    await until(() => isOpen(shared), 'the node serves');
    assert.equal((await edit(shared, 'GET', 'items/a-draft')).status, 404);
    const isTold = async () => shared.logText.includes('game data draft not migrated');
    await until(isTold, 'the log says so');
  } finally {
    await alone.close();
  }
});
