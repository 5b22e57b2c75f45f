// Source: gamedata, section 3 (`image`: relative or https) and docs/spec/gamedata.md, section 2.13.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { RawConnection, ServerProcess } from '../../harness/index.js';
import { type Envelope, getJson, type WireRecord } from './game-client.js';

const WEBP = Buffer.from('RIFF$\0\0\0WEBPVP8 ', 'latin1');
const TOKEN = 'editor-token-of-images';
const LOOK_MS = 10_000;

let dataDir = '';
let images = '';
let server: ServerProcess;
let first: WireRecord;
let second: WireRecord;
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'plinth-images-'));
  images = join(dataDir, 'gamedata', 'images');
  server = await start();
  const { body } = await getJson<Envelope>(server, '/api/items?limit=2');
  [first, second] = body.items as [WireRecord, WireRecord];
  assert.deepEqual([first['image'], second['image']], [null, null], 'the sample has no files');
  await server.stop();
  await mkdir(join(images, 'items'), { recursive: true });
  await writeFile(join(images, 'items', `${first.id}.webp`), WEBP);
  await writeFile(join(images, 'Ein Bild.PNG'), 'png');
  await writeFile(join(images, 'page.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  await writeFile(join(images, 'large.jpg'), Buffer.alloc(300_000, 7));
  await writeFile(join(images, '.hidden.png'), 'x');
  await writeFile(join(images, 'readme.txt'), 'x');
  await writeFile(join(dataDir, 'secret.png'), 'x');
  await symlink(join(dataDir, 'secret.png'), join(images, 'link.png'));
  await symlink(dataDir, join(images, 'out'));
  server = await start();
});
after(async () => {
  await server.close();
  await rm(dataDir, { recursive: true });
});

const start = async (...flags: string[]) =>
  await ServerProcess.start({
    dataDir,
    flags: ['--services', 'gamedata', '--gamedata-admin-token', TOKEN, ...flags],
  });

const imageOf = async (id: string): Promise<unknown> =>
  (await getJson<WireRecord>(server, `/api/items/${id}`)).body['image'];

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + 3 * LOOK_MS;
  while (!(await isSo())) {
    assert.ok(Date.now() < endMs, what);
    await sleep(200);
  }
}

describe('images of records', () => {
  it('are paths of this server where there is a file, and null where there is none', async () => {
    const link = `/images/items/${first.id}.webp`;
    assert.equal(await imageOf(first.id), link);
    assert.equal(await imageOf(second.id), null);
    const list = await getJson<Envelope>(server, '/api/items?limit=2&fields=image');
    assert.deepEqual(list.body.items, [
      { id: first.id, image: link },
      { id: second.id, image: null },
    ]);
    const having = await getJson<Envelope>(server, '/api/items?q=has:image&limit=5');
    assert.deepEqual(
      having.body.items?.map(({ id }) => id),
      [first.id],
    );
    const bulk = await server.http.send('/api/bulk/v1/items.json');
    const records = JSON.parse(bulk.text) as WireRecord[];
    assert.deepEqual(
      records.filter(({ image }) => image !== null).map(({ id }) => id),
      [first.id],
    );
    const stored = await server.http.send(`/api/editor/items/${second.id}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    assert.match(
      stored.text,
      new RegExp(`"images/items/${second.id}.webp"`),
      'editors see the name',
    );
  });

  it('are served with type, length, ETag and caching', async () => {
    const path = `/images/items/${first.id}.webp`;
    const answer = await server.http.send(path);
    assert.equal(answer.status, 200);
    assert.equal(answer.text, WEBP.toString());
    const { headers } = answer;
    assert.equal(headers['content-type'], 'image/webp');
    assert.equal(headers['content-length'], String(WEBP.length));
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['cross-origin-resource-policy'], 'cross-origin');
    assert.match(String(headers['cache-control']), /^public, max-age=60/);
    assert.match(String(headers['etag']), /^"[\w-]+"$/);
    assert.ok(Math.abs(Date.parse(String(headers['last-modified'])) - Date.now()) < 600_000);
    for (const tag of [headers['etag'], '*', `W/${headers['etag']}`]) {
      const again = await server.http.send(path, { headers: { 'if-none-match': String(tag) } });
      assert.deepEqual(
        [again.status, again.text, again.headers['etag']],
        [304, '', headers['etag']],
      );
    }
    const head = await server.http.send(path, { method: 'HEAD' });
    assert.deepEqual(
      [head.status, head.text, head.headers['content-length']],
      [200, '', String(WEBP.length)],
    );
    await writeFile(join(images, 'items', `${first.id}.webp`), `${WEBP}changed`);
    const changed = await server.http.send(path, {
      headers: { 'if-none-match': String(headers['etag']) },
    });
    assert.deepEqual([changed.status, changed.text], [200, `${WEBP}changed`]);
    assert.equal((await server.http.send('/images/large.jpg')).text.length, 300_000);
  });

  it('have the type of their ending, and nothing runs in them', async () => {
    const png = await server.http.send('/images/Ein%20Bild.PNG');
    assert.deepEqual([png.status, png.headers['content-type']], [200, 'image/png']);
    const svg = await server.http.send('/images/page.svg');
    assert.equal(svg.headers['content-type'], 'image/svg+xml');
    assert.match(String(svg.headers['content-security-policy']), /^default-src 'none';.*sandbox$/);
  });

  it('are nothing else: no path leads out, no link is followed, nothing else is told of', async () => {
    for (const path of [
      '/images/',
      '/images/items',
      '/images/nothing.png',
      '/images/link.png',
      '/images/out/secret.png',
      '/images/.hidden.png',
      '/images/readme.txt',
      '/images/../secret.png',
      '/images/..%2f..%2fsecret.png',
      '/images/%2e%2e/%2e%2e/secret.png',
      '/images/items/..%2f..%2f..%2fsecret.png',
      '/images/items%5c..%5c..%5csecret.png',
      '/images/items/%00.png',
      `/images/${'a/'.repeat(2000)}b.png`,
    ]) {
      const connection = await RawConnection.open(server.url);
      connection.send(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      const text = await connection.untilEnd();
      assert.match(text, /^HTTP\/1\.1 4(?:00|04) /, `${path}: ${text.slice(0, 200)}`);
      assert.doesNotMatch(text, /plinth-images|ENOENT/, path);
    }
    const wrong = await server.http.send('/images/page.svg', { method: 'POST' });
    assert.deepEqual([wrong.status, wrong.headers['allow']], [405, 'GET, HEAD, OPTIONS']);
  });

  it('that come or go while the server runs are seen soon', async () => {
    const file = join(images, 'items', `${second.id}.webp`);
    await writeFile(file, WEBP);
    await until('the new file is linked', async () => (await imageOf(second.id)) !== null);
    assert.equal((await server.http.send(`/images/items/${second.id}.webp`)).status, 200);
    await rm(file);
    assert.equal((await server.http.send(`/images/items/${second.id}.webp`)).status, 404);
    await until('it is linked no more', async () => (await imageOf(second.id)) === null);
  });

  it('have the base of the setting before them; absolute ones stay', async () => {
    await server.stop();
    server = await start('--gamedata-image-base', 'https://cdn.example/pictures');
    assert.equal(await imageOf(second.id), `https://cdn.example/pictures/items/${second.id}.webp`);
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/merge-patch+json',
    };
    const image = 'https://elsewhere.example/a.png';
    const changed = await server.http.send(`/api/editor/items/${second.id}`, {
      method: 'PATCH',
      body: JSON.stringify({ image }),
      headers,
    });
    assert.equal(changed.status, 200, changed.text);
    const published = await server.http.send('/api/editor/save', {
      method: 'POST',
      body: '{}',
      headers: { ...headers, 'content-type': 'application/json' },
    });
    assert.ok(published.status < 300, published.text);
    assert.equal(await imageOf(second.id), image);
  });

  it('a base that is no https URL stops the start', async () => {
    for (const base of ['http://cdn.example', 'https://cdn.example/?a', 'cdn']) {
      await assert.rejects(
        ServerProcess.start({ flags: ['--services', 'gamedata', '--gamedata-image-base', base] }),
        /--gamedata-image-base: expected text like/,
        base,
      );
    }
  });
});
