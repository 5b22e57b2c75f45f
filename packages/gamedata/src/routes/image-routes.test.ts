// Source: gamedata, sections 3 (`image`: relative or https) and 2.13.
import assert from 'node:assert/strict';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestGameData, type WireRecord } from '../testing/test-game-data.js';

const WEBP = Buffer.from('RIFF$\0\0\0WEBPVP8 ', 'latin1');
/** Interval at which the service scans for new files. */
const LOOK_MS = 10_000;

describe('images of records', () => {
  let service: TestGameData;
  let images = '';
  let first: WireRecord;
  let second: WireRecord;
  before(async () => {
    service = await TestGameData.start();
    images = join(service.dataDir, 'gamedata', 'images');
    [first, second] = (await service.get('/api/items?limit=2')).body.items as [
      WireRecord,
      WireRecord,
    ];
    assert.deepEqual([first['image'], second['image']], [null, null], 'the sample has no files');
    await service.stop();
    await mkdir(join(images, 'items'), { recursive: true });
    await writeFile(join(images, 'items', `${first.id}.webp`), WEBP);
    await writeFile(join(images, 'Ein Bild.PNG'), 'png');
    await writeFile(join(images, 'page.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
    await writeFile(join(images, 'large.jpg'), Buffer.alloc(300_000, 7));
    await writeFile(join(images, '.hidden.png'), 'x');
    await writeFile(join(images, 'readme.txt'), 'x');
    await writeFile(join(service.dataDir, 'secret.png'), 'x');
    await symlink(join(service.dataDir, 'secret.png'), join(images, 'link.png'));
    await symlink(service.dataDir, join(images, 'out'));
    await service.restart();
  });
  after(() => service[Symbol.asyncDispose]());

  const imageOf = async (id: string): Promise<unknown> =>
    (await service.get<WireRecord>(`/api/items/${id}`)).body['image'];

  it('are paths of this server if the file exists, and null otherwise', async () => {
    const link = `/images/items/${first.id}.webp`;
    assert.equal(await imageOf(first.id), link);
    assert.equal(await imageOf(second.id), null);
    const list = await service.get('/api/items?limit=2&fields=image');
    assert.deepEqual(list.body.items, [
      { id: first.id, image: link },
      { id: second.id, image: null },
    ]);
    const having = await service.get('/api/items?q=has:image&limit=5');
    assert.deepEqual(
      having.body.items?.map(({ id }) => id),
      [first.id],
    );
    const bulk = await service.send('/api/bulk/v1/items.json');
    const records = JSON.parse(bulk.text) as WireRecord[];
    assert.deepEqual(
      records.filter(({ image }) => image !== null).map(({ id }) => id),
      [first.id],
    );
    const stored = await service.edit('GET', `items/${second.id}`);
    assert.match(
      stored.text,
      new RegExp(`"images/items/${second.id}.webp"`),
      'editors see the name',
    );
  });

  it('are served with type, ETag and caching', async () => {
    const path = `/images/items/${first.id}.webp`;
    const response = await service.send(path);
    assert.equal(response.status, 200);
    assert.equal(response.text, WEBP.toString());
    const { headers } = response;
    assert.equal(headers['content-type'], 'image/webp');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['access-control-allow-origin'], '*');
    assert.equal(headers['cross-origin-resource-policy'], 'cross-origin');
    assert.match(String(headers['cache-control']), /^public, max-age=60/);
    assert.match(String(headers['etag']), /^"[\w-]+"$/);
    assert.ok(Math.abs(Date.parse(String(headers['last-modified'])) - Date.now()) < 600_000);
    for (const tag of [headers['etag'], '*', `W/${headers['etag']}`]) {
      const again = await service.send(path, { headers: { 'if-none-match': String(tag) } });
      assert.deepEqual(
        [again.status, again.text, again.headers['etag']],
        [304, '', headers['etag']],
      );
    }
    await writeFile(join(images, 'items', `${first.id}.webp`), `${WEBP}changed`);
    const changed = await service.send(path, {
      headers: { 'if-none-match': String(headers['etag']) },
    });
    assert.deepEqual([changed.status, changed.text], [200, `${WEBP}changed`]);
    assert.equal((await service.send('/images/large.jpg')).text.length, 300_000);
  });

  it('have the content type of their extension, and no active content', async () => {
    const png = await service.send('/images/Ein%20Bild.PNG');
    assert.deepEqual([png.status, png.headers['content-type']], [200, 'image/png']);
    const svg = await service.send('/images/page.svg');
    assert.equal(svg.headers['content-type'], 'image/svg+xml');
    assert.match(String(svg.headers['content-security-policy']), /^default-src 'none';.*sandbox$/);
  });

  it('never leave the folder, follow links or list other files', async () => {
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
      const { status, text } = await service.send(path);
      assert.ok(status === 400 || status === 404, `${path}: ${status} ${text.slice(0, 200)}`);
      assert.doesNotMatch(text, /plinth-gamedata|ENOENT/, path);
    }
    const wrong = await service.send('/images/page.svg', { method: 'POST' });
    assert.deepEqual([wrong.status, wrong.headers['allow']], [405, 'GET, HEAD, OPTIONS']);
  });

  it('appear and disappear at the next scan', async () => {
    const file = join(images, 'items', `${second.id}.webp`);
    const isLinked = async (): Promise<boolean> => (await imageOf(second.id)) !== null;
    const look = async (wanted: boolean): Promise<void> => {
      await service.clock.advanceMs(LOOK_MS);
      // File system calls take a moment.
      for (let left = 500; left > 0 && (await isLinked()) !== wanted; left--) await sleep(10);
      assert.equal(await isLinked(), wanted);
    };
    await writeFile(file, WEBP);
    assert.equal(await isLinked(), false);
    await look(true);
    assert.equal((await service.send(`/images/items/${second.id}.webp`)).status, 200);
    await rm(file);
    assert.equal((await service.send(`/images/items/${second.id}.webp`)).status, 404);
    await look(false);
  });

  it('start with the configured base, unless they are absolute', async () => {
    await service.restart({ 'gamedata-image-base': 'https://cdn.example/pictures' });
    assert.equal(await imageOf(second.id), `https://cdn.example/pictures/items/${second.id}.webp`);
    const image = 'https://elsewhere.example/a.png';
    const type = { 'content-type': 'application/merge-patch+json' };
    await service.done('PATCH', `items/${second.id}`, { image }, type);
    await service.done('POST', 'save');
    assert.equal(await imageOf(second.id), image);
  });
});
