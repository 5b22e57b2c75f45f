// Source: gamedata, sections 2.10, 4 to 6 and 8.1, and scale, section 4.3: no service needs local
// state when nodes share a database.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { POSTGRES_URL, ServerInProcess, type SharedNodes, until } from '../../harness/index.js';
import { COMMUNITY_FILES } from './game-client.js';
import { done, edit, gamedataNodes, isOpen, NODE, shownBy, untilEqual } from './shared-nodes.js';

const SKIP = POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL';
const thing = (id: string, name = `thing ${id}`) => ({ id, name, category: 'barter' });

it('a second node answered 503 for ever, because the records lay in the folder of the first', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const first = await nodes.start();
  await until(() => isOpen(first), 'the first node serves');
  const second = await nodes.start();
  await until(() => isOpen(second), 'the second node serves');
  assert.equal(await shownBy(second), await shownBy(first));
  assert.equal((await second.http.send('/ready')).status, 200);
});

it('two nodes started at once served different versions for ever, and saves failed by unique keys', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const both = await Promise.all([nodes.start(), nodes.start(), nodes.start()]);
  for (const node of both) await until(() => isOpen(node), 'a node serves');
  await untilEqual(both);
  const { text } = await both[0].http.send('/api/versions');
  assert.equal(JSON.parse(text).total, 1);
  for (const [index, node] of both.entries()) {
    await done(node, 'POST', 'items', thing(`by-${index}`));
    const saved = await done(node, 'POST', 'save');
    assert.deepEqual([saved.json['version'], saved.json['changed']], [index + 2, 1]);
  }
  await untilEqual(both);
});

it('old versions went from one node alone', { skip: SKIP }, async () => {
  await using nodes = await gamedataNodes();
  const flags = ['--gamedata-keep-versions=2'];
  const both = await Promise.all([nodes.start({ flags }), nodes.start({ flags })]);
  for (const node of both) await until(() => isOpen(node), 'a node serves');
  for (let index = 0; index < 4; index++) {
    const node = both[index % 2] as ServerInProcess;
    await done(node, 'POST', 'items', thing(`step-${index}`));
    await done(node, 'POST', 'save');
  }
  await untilEqual(both);
  const { text } = await both[0].http.send('/api/versions');
  assert.deepEqual(
    JSON.parse(text).versions.map(({ version }: { version: number }) => version),
    [5, 4],
  );
  for (const node of both) {
    assert.equal((await node.http.send('/api/items/step-3?version=4')).status, 404);
    assert.equal((await node.http.send('/api/items/step-2?version=4')).status, 200);
    assert.equal((await node.http.send('/api/items?version=3')).status, 404);
  }
});

it('records of versions that are gone stayed in the database, or those went that another node needed', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const flags = ['--gamedata-keep-versions=1'];
  const first = await nodes.start({ flags });
  await until(() => isOpen(first), 'a node serves');
  const publish = async (id: string) => {
    await done(first, 'POST', 'items', thing(id));
    await done(first, 'POST', 'save');
  };
  const count = async () =>
    Number((await nodes.database.query('select count(*) from gamedata_objects'))[0]?.['count']);
  await publish('one');
  const before = await count();
  await publish('two');
  assert.ok((await count()) > before, 'what was put just now may be named soon');
  await nodes.database.query('update gamedata_objects set put_ms = 0');
  await publish('three');
  // One version, its list of changes, and the objects of the publication.
  const old = await nodes.database.query('select name from gamedata_objects where put_ms = 0');
  assert.ok(old.length < before, `${old.length} of ${before}`);
  const second = await nodes.start({ flags });
  await until(() => isOpen(second), 'a node serves');
  await untilEqual([first, second]);
});

it('a node that could not read any version answered 503 while /ready was 200', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const alone = await ServerInProcess.start(NODE);
  try {
    await until(() => isOpen(alone), 'a node serves');
    await done(alone, 'POST', 'items', thing('own'));
    await done(alone, 'POST', 'save');
    const { dataDir } = alone;
    await alone.stop();
    const first = await nodes.start({ dataDir });
    await until(() => isOpen(first), 'a node serves');
    await first.stop();
    // State left by an earlier release: versions in the database, their records in one node's
    // folder.
    await nodes.database.query('delete from gamedata_objects');
    const without = await nodes.start();
    const isTold = async () => {
      const { status, text } = await without.http.send('/ready');
      return status === 503 && text.includes('no version of the game data is readable');
    };
    await until(isTold, '/ready says so');
    assert.equal(await isOpen(without), false);
    const again = await nodes.start({ dataDir });
    await until(() => isOpen(again), 'the node with the folder serves');
    await until(() => isOpen(without), 'the other one finds them');
    await until(async () => (await without.http.send('/ready')).status === 200, 'it is ready');
    await untilEqual([again, without]);
  } finally {
    await alone.close();
  }
});

it('no date in the future is sent when the clock of another node was ahead', {
  skip: SKIP,
}, async () => {
  await using nodes = await gamedataNodes();
  const path = '/api/items/short-lived';
  const first = await nodes.start();
  await done(first, 'POST', 'items', { id: 'short-lived', name: 'One' });
  await done(first, 'POST', 'save');
  const { headers } = await first.http.send(path);
  const published = Date.parse(String(headers['last-modified']));
  assert.ok(published <= Date.parse(String(headers['date'])));
  await first.stop();
  // Simulates a node with a fast clock.
  const version = Number(headers['x-data-version']);
  await nodes.database.query(
    `update gamedata_versions set published_ms = published_ms + 3600000 where version = ${version}`,
  );
  const second = await nodes.start();
  for (const each of [path, `/api/bulk/v${version}/items.json`]) {
    const { status, headers: answered } = await second.http.send(each);
    assert.deepEqual([status, answered['last-modified']], [200, undefined], each);
  }
  const ahead = new Date(published + 3_600_000).toUTCString();
  const sent = { headers: { 'if-modified-since': ahead } };
  assert.equal((await second.http.send(path, sent)).status, 304);
});

it('an import stored nothing when another node had removed what it was about to name', {
  skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
}, async () => {
  await using nodes = await gamedataNodes();
  const node = await nodes.start();
  await until(() => isOpen(node), 'the node serves');
  const before = await shownBy(node);
  // Simulates missing objects: no stored object can be refreshed.
  await nodes.database.query(`create function gone() returns trigger language plpgsql
    as $$ begin return null; end $$;
    create trigger gone before update on gamedata_objects for each row execute function gone()`);
  for (const publish of ['true', 'false']) {
    const path = `import?format=tarkovdata&mode=replace&publish=${publish}`;
    const { status, json } = await edit(node, 'POST', path, COMMUNITY_FILES);
    assert.deepEqual([status, json['code']], [409, 'conflict'], publish);
    assert.match(
      String(json['error']),
      /through another node, so nothing was stored; retry the request/,
    );
  }
  assert.equal(await shownBy(node), before);
  await nodes.database.query('drop trigger gone on gamedata_objects');
  const again = await edit(
    node,
    'POST',
    'import?format=tarkovdata&mode=replace&publish=true',
    COMMUNITY_FILES,
  );
  assert.equal(again.status, 200, JSON.stringify(again.json));
});

describe('editors of game data on two nodes', { skip: SKIP }, () => {
  let nodes: SharedNodes;
  let one: ServerInProcess;
  let other: ServerInProcess;
  before(async () => {
    nodes = await gamedataNodes();
    [one, other] = await Promise.all([nodes.start(), nodes.start()]);
    for (const node of [one, other]) await until(() => isOpen(node), 'a node serves');
  });
  after(() => nodes[Symbol.asyncDispose]());

  it('see what another has changed, and readers what was published, without a change of their own', async () => {
    for (let round = 0; round < 7; round++) {
      const id = randomUUID();
      await done(one, 'POST', 'items', thing(id));
      const isDrafted = async () => (await edit(other, 'GET', `items/${id}`)).status === 200;
      await until(isDrafted, 'the draft is seen');
      await done(one, 'POST', 'save');
      const isPublished = async () => (await other.http.send(`/api/items/${id}`)).status === 200;
      await until(isPublished, 'the version is seen');
    }
  });

  it('publish at once what was changed through another', async () => {
    const id = randomUUID();
    await done(one, 'POST', 'items', thing(id));
    assert.equal((await done(other, 'POST', 'save')).json['changed'], 1);
    assert.equal((await other.http.send(`/api/items/${id}`)).status, 200);
  });

  it('change and delete at once what was made through another', async () => {
    const id = randomUUID();
    await done(one, 'POST', 'items', thing(id));
    await done(other, 'PATCH', `items/${id}`, { name: 'renamed' });
    const { json } = await done(one, 'PATCH', `items/${id}`, { shortName: 'short' });
    assert.deepEqual([json.data?.['name'], json.data?.['shortName']], ['renamed', 'short']);
    await done(other, 'DELETE', `items/${id}`);
    assert.equal((await edit(one, 'PATCH', `items/${id}`, { name: 'gone' })).status, 404);
  });

  it('are told of each other as on one node: 412, 409 and the reply of the same key', async () => {
    const id = randomUUID();
    const key = { 'idempotency-key': randomUUID() };
    const made = await done(one, 'POST', 'items', thing(id), key);
    assert.deepEqual((await done(other, 'POST', 'items', thing(id), key)).json, made.json);
    const taken = await edit(other, 'POST', 'items', thing(id));
    assert.deepEqual([taken.status, taken.json['code']], [409, 'conflict']);
    const changed = await done(other, 'PATCH', `items/${id}`, { name: 'by the other' });
    const old = { 'if-match': String(made.headers['etag']) };
    const late = await edit(one, 'PATCH', `items/${id}`, { name: 'too late' }, old);
    assert.deepEqual([late.status, late.json['code']], [412, 'precondition_failed']);
    assert.equal(late.headers['etag'], changed.headers['etag']);
  });

  it('make one record of one key that comes to both at once', async () => {
    for (let round = 0; round < 10; round++) {
      const id = randomUUID();
      const key = { 'idempotency-key': randomUUID() };
      const responses = await Promise.all(
        [one, other, one, other].map((node) => edit(node, 'POST', 'items', thing(id), key)),
      );
      const texts = new Set(
        responses.map(({ status, json }) => `${status} ${JSON.stringify(json)}`),
      );
      assert.equal(texts.size, 1, [...texts].join('\n'));
      assert.equal(responses[0]?.status, 200);
    }
  });

  it('undo their own last change wherever they ask, and discard for all', async () => {
    const id = randomUUID();
    await done(one, 'POST', 'items', thing(id));
    await done(one, 'POST', 'save');
    await done(one, 'PATCH', `items/${id}`, { name: 'wrong' });
    await done(other, 'POST', 'undo');
    const { json } = await edit(other, 'GET', `items/${id}`);
    assert.equal(json['name'], `thing ${id}`);
    await done(other, 'PATCH', `items/${id}`, { name: 'wrong again' });
    await done(one, 'POST', 'discard');
    await untilEqual([one, other]);
    assert.equal((await edit(other, 'GET', `items/${id}`)).json['name'], `thing ${id}`);
  });

  it('are told when an import was made of what another node has changed meanwhile', async () => {
    const { json: set } = await done(one, 'GET', 'export');
    const ids = [randomUUID(), randomUUID()];
    const responses = await Promise.all(
      [one, other].map((node, index) => {
        const kinds = { items: [thing(ids[index] ?? '')] };
        return edit(node, 'POST', 'import?mode=merge&publish=true', { ...set, kinds });
      }),
    );
    for (const { status, json } of responses) {
      if (status === 200) continue;
      assert.deepEqual([status, json['code']], [409, 'conflict']);
      assert.match(String(json['error']), /through another node, so nothing was stored/);
    }
    await untilEqual([one, other]);
    for (const [index, { status }] of responses.entries()) {
      const found = await one.http.send(`/api/items/${ids[index]}`);
      assert.equal(found.status, status === 200 ? 200 : 404);
    }
    assert.ok(responses.some(({ status }) => status === 200));
  });

  it('import and restore for all', async () => {
    const id = randomUUID();
    const { json: set } = await done(one, 'GET', 'export');
    const kinds = { items: [thing(id)] };
    await done(other, 'POST', 'import?mode=merge', { ...set, kinds });
    assert.equal((await done(one, 'POST', 'save')).json['changed'], 1);
    const { json: versions } = await done(one, 'GET', 'versions');
    const before = (versions['versions'] as { version: number }[])[1]?.version;
    await done(other, 'POST', `versions/${before}/restore`);
    await untilEqual([one, other]);
    assert.equal((await one.http.send(`/api/items/${id}`)).status, 404);
  });
});
