// Source: gamedata, sections 4, 6 and 8: one path of each editor route, and its other clients. The
// rules are tested next to the routes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { createGameDataClient } from '@plinth/gamedata-client';
import { runCli } from '../../harness/cli.js';
import { RawConnection, ServerInProcess } from '../../harness/index.js';
import { COMMUNITY_FILES, getJson, type WireRecord } from './game-client.js';
import { done, edit, NODE, EDITOR_TOKEN as TOKEN } from './shared-nodes.js';

const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' };
const READER = `reader:${createHash('sha256').update('token-read').digest('hex')}:read`;

const requestText = (target: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe('the editor', () => {
  let server: ServerInProcess;
  before(async () => {
    // Own server: it has tokens, open metrics and changing versions.
    server = await ServerInProcess.start({
      ...NODE,
      env: { ...NODE.env, PLINTH_GAMEDATA_TOKENS: READER },
    });
  });
  after(() => server.close());

  it('readers see a new version from the moment that it is published', async () => {
    using connection = await RawConnection.open(server.url);
    const ask = () => connection.send(requestText('/api/levels/1?fields=title'));
    ask();
    await connection.until(/x-data-version: 1\r\n[\s\S]*\}$/);
    await done(server, 'PATCH', 'levels/1', { title: 'Newly named' }, MERGE_PATCH);
    ask();
    await connection.until(
      /x-data-version: 1\r\n[\s\S]*\}HTTP[\s\S]*x-data-version: 1\r\n[\s\S]*\}$/,
    );
    await done(server, 'POST', 'save/levels');
    ask();
    await connection.until(/x-data-version: 2\r\n[\s\S]*"title":"Newly named"\}$/);
  });

  it('returns the scopes of a token, for the pages of the console', async () => {
    const of = async (token: string) =>
      await server.http.send('/api/editor/session', {
        headers: { authorization: `Bearer ${token}` },
      });
    assert.deepEqual(JSON.parse((await of('token-read')).text), {
      ...{ name: 'reader', scopes: ['read'] },
    });
    assert.deepEqual(JSON.parse((await of(TOKEN)).text).scopes, [
      ...['read', 'write', 'publish', 'admin'],
    ]);
    assert.equal((await of('wrong')).status, 401);
    for (const path of ['/editor', '/editor/']) {
      const { status, headers } = await server.http.send(path);
      assert.deepEqual([status, headers['location']], [303, '/console/gamedata']);
    }
  });

  it('creates, changes, deletes, publishes and restores, and keeps a history', async () => {
    const { body: index } = await getJson<{ dataVersion: number }>(server, '/api');
    const from = index.dataVersion;
    const made = await done(server, 'POST', 'items', { id: 'thing', name: 'One' });
    assert.equal(made.headers['location'], '/api/editor/items/thing');
    const tag = { 'if-match': String(made.headers['etag']) };
    await done(server, 'PATCH', 'items/thing', { name: 'Two' }, MERGE_PATCH);
    const late = await edit(server, 'PUT', 'items/thing', { name: 'Three' }, tag);
    assert.deepEqual([late.status, late.json['code']], [412, 'precondition_failed']);
    await done(server, 'PUT', 'items/thing', { name: 'Four' });
    await done(server, 'POST', 'undo');
    await done(server, 'POST', 'redo');
    assert.equal((await done(server, 'GET', 'items/thing')).json['name'], 'Four');
    assert.equal((await server.http.send('/api/items/thing')).status, 404, 'it is a draft');
    assert.equal((await done(server, 'GET', 'validate')).json['valid'], true);
    const saved = await done(server, 'POST', 'save', { message: 'a thing' });
    assert.deepEqual([saved.json['version'], saved.json['changed']], [from + 1, 1]);
    assert.equal((await getJson<WireRecord>(server, '/api/items/thing')).body['name'], 'Four');
    const { body: changes } = await getJson<WireRecord>(server, `/api/changes?since=${from}`);
    const change = { version: from + 1, kind: 'items', id: 'thing', op: 'created' };
    assert.deepEqual(changes['changes'], [change]);
    await done(server, 'DELETE', 'items/thing');
    await done(server, 'POST', 'discard');
    const { json: history } = await done(server, 'GET', 'history?type=items&id=thing');
    const ops = (history['entries'] as { op: string }[]).map(({ op }) => op);
    assert.deepEqual(ops, ['delete', 'redo', 'undo', 'update', 'update', 'create']);
    await done(server, 'POST', 'versions/1/restore');
    assert.equal((await server.http.send('/api/items/thing')).status, 404);
  });

  it('exports what it imports, and serves it as a bulk file', async () => {
    const { json: set } = await done(server, 'GET', 'export');
    const { json: imported } = await done(server, 'POST', 'import?mode=replace&publish=true', set);
    assert.equal(imported['published'], true);
    assert.deepEqual((await done(server, 'GET', 'export')).json, set);
    const headers = { 'accept-encoding': 'gzip' };
    const bulk = await server.http.send('/api/bulk/v1/items.json', { headers });
    assert.equal(bulk.headers['content-encoding'], 'gzip');
    assert.equal(JSON.parse(gunzipSync(bulk.bytes).toString()).length, 420);
  });

  it('accepts gzip bodies, and rejects other codings, large and broken ones', async () => {
    const check = async (body: string | Buffer, coding: string, status: number, code?: string) => {
      const type = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
      const headers = { ...type, 'content-encoding': coding };
      const response = await server.http.send('/api/editor/items', { headers, body });
      assert.deepEqual([response.status, JSON.parse(response.text).code], [status, code]);
    };
    const packed = gzipSync(JSON.stringify({ id: 'packed', name: 'Packed' }));
    const bomb = gzipSync(JSON.stringify({ id: 'bomb', name: 'x', extra: 'x'.repeat(400_000) }));
    await check(packed, 'gzip', 200);
    await check(packed, 'br', 415, 'unsupported_media_type');
    await check('{"id":"plain","name":"Plain"}', 'gzip', 400, 'invalid_json');
    await check(bomb, 'gzip', 413, 'too_large');
    await check(`"${'x'.repeat(300_000)}"`, 'identity', 413, 'too_large');
    await check('{"id":', 'identity', 400, 'invalid_json');
    await done(server, 'POST', 'discard');
  });

  it('refuses clients without a token or its scope before their body is read', async () => {
    const response = await server.http.send('/api/editor/items');
    assert.equal(response.status, 401);
    assert.equal(response.headers['www-authenticate'], 'Bearer realm="gamedata-editor"');
    assert.deepEqual(JSON.parse(response.text), { error: 'Unauthorized', code: 'unauthorized' });
    using connection = await RawConnection.open(server.url);
    connection.send(
      [
        'POST /api/editor/import HTTP/1.1',
        'Host: localhost',
        'Authorization: Bearer token-read',
        'Content-Type: application/json',
        'Content-Length: 1000000',
        '\r\n',
      ].join('\r\n'),
    );
    await connection.until(/^HTTP\/1\.1 403 [\s\S]*"code":"forbidden"/);
  });

  it('the metrics page has version, record counts, publications and the cache', async () => {
    const figures = async (): Promise<(name: string) => number> => {
      const { text } = await server.http.send('/metrics');
      return (name) => {
        const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
        assert.ok(line !== undefined, `${name} is missing`);
        return Number(line.slice(name.length + 1));
      };
    };
    const before = await figures();
    await done(server, 'POST', 'items', { id: 'counted-1', name: 'Counted', category: 'barter' });
    const saved = (await done(server, 'POST', 'save')).json['version'];
    await getJson(server, '/api/items?limit=7');
    await getJson(server, '/api/items?limit=7');
    const now = await figures();
    assert.equal(now('plinth_gamedata_version'), saved);
    const items = 'plinth_gamedata_records{kind="items"}';
    assert.equal(now(items), before(items) + 1);
    const published = 'plinth_gamedata_publish_duration_seconds_count';
    assert.equal(now(published), before(published) + 1);
    for (const outcome of ['hits', 'misses']) {
      const name = `plinth_gamedata_reply_cache_${outcome}_total`;
      assert.ok(now(name) > before(name), name);
    }
  });

  it('the command line imports, validates, publishes, exports and restores', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-gamedata-'));
    try {
      const run = async (...args: string[]) => {
        const connection = ['--host', server.url, '--token', TOKEN];
        const result = await runCli(['gamedata', ...args, ...connection]);
        assert.equal(result.code, 0, result.stderr);
        return result.stdout;
      };
      await mkdir(join(folder, 'data'));
      for (const [name, content] of Object.entries(COMMUNITY_FILES)) {
        await writeFile(join(folder, 'data', name), JSON.stringify(content));
      }
      const report = await run('import', folder, '--format', 'tarkovdata', '--mode', 'replace');
      assert.match(report, /items 1/);
      assert.match(report, /kept as a draft/);
      assert.equal(await run('validate'), 'the draft is valid\n');
      assert.match(
        await run('publish', '--message', 'from files'),
        /^version \d+, \d+ records? changed\n$/,
      );
      const file = join(folder, 'set.json');
      await run('export', '--out', file);
      assert.match(
        await run('import', file, '--mode', 'replace', '--publish'),
        /created 0, updated 0, deleted 0/,
      );
      assert.match(await run('restore', '1'), /published with the data of version 1/);
      assert.match(await run('versions'), /from files/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('the typed client reads lists and single records', async () => {
    const client = createGameDataClient({ baseUrl: server.url });
    const { items } = await client.get('/api/items', { query: { limit: 2, category: 'key' } });
    assert.deepEqual(
      items.map(({ category }) => category),
      ['key', 'key'],
    );
    const trader = await client.get('/api/traders/{id}', { path: { id: 'odile-varn' } });
    assert.equal(trader.name, 'Odile Varn');
    await assert.rejects(client.get('/api/items/{id}', { path: { id: 'nobody' } }), {
      name: 'GameDataFailure',
      status: 404,
    });
  });

  it('the command line generates the sample data', async () => {
    const { stdout } = await runCli(['gamedata', 'generate', '--seed', '1']);
    // A change of the generator changes every data set generated before.
    assert.equal(createHash('sha256').update(stdout).digest('hex'), GOLDEN_SEED_1);
  });
});

const GOLDEN_SEED_1 = '58a35d1fec03df7602b912a96ce8a567a3d7255bde27082a41167d13ff4d9d9f';
