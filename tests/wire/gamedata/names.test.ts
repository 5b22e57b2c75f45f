// Source: gamedata, sections 2.5, 2.6, 2.7 and 2.9.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';
import { type Envelope, getJson, refused, type WireRecord } from './game-client.js';

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({ flags: ['--services', 'gamedata'] });
});
after(() => server.close());

const get = async (path: string): Promise<Envelope> => (await getJson<Envelope>(server, path)).body;

interface Quest extends WireRecord {
  readonly slug: string;
  readonly title: string;
  readonly giverId: string;
  readonly locales: { readonly fr: { readonly title?: string } };
}

const quests = async (): Promise<readonly Quest[]> =>
  (await get('/api/quests?lang=all&limit=5000')).quests as readonly Quest[];
const idsOf = (page: Envelope): readonly string[] => (page.items ?? []).map(({ id }) => id);

describe('filters by name', () => {
  it('C12 take a name that has commas in it, alone and beside others', async () => {
    const all = await quests();
    const withComma = all.find(({ title }) => title.includes(', '));
    const other = all.find(({ title }) => !title.includes(','));
    assert.ok(withComma !== undefined && other !== undefined);
    const items = async (quest: string): Promise<readonly string[]> =>
      idsOf(await get(`/api/items?limit=5000&fields=id&quest=${encodeURIComponent(quest)}`));
    const bySlug = await items(withComma.slug);
    assert.ok(bySlug.length > 0);
    assert.deepEqual(await items(withComma.title), bySlug);
    assert.deepEqual(await items(withComma.title.toUpperCase()), bySlug);
    const both = await items(`${withComma.slug},${other.slug}`);
    assert.deepEqual(await items(`${other.title},${withComma.title}`), both);
    assert.deepEqual(await items(`${withComma.title},nobody,${other.id}`), both);
  });

  it('C17 know the names of the chosen language beside those of the default one', async () => {
    const all = await quests();
    const quest = all.find(
      ({ title, locales: { fr } }) => fr.title !== undefined && fr.title !== title,
    );
    const french = quest?.locales.fr.title;
    assert.ok(quest !== undefined && french !== undefined);
    const items = async (word: string, more = ''): Promise<readonly string[]> =>
      idsOf(await get(`/api/items?limit=5000&fields=id&quest=${encodeURIComponent(word)}${more}`));
    const byId = await items(quest.id);
    assert.ok(byId.length > 0);
    assert.deepEqual(await items(french, '&lang=fr'), byId);
    assert.deepEqual(await items(quest.title, '&lang=fr'), byId);
    assert.deepEqual(await items(french), []);
  });

  it('C17 so do the fields of q that stand for other records', async () => {
    const maps = (await get('/api/maps?lang=all&envelope=page'))['data'] as readonly Quest[];
    const map = maps.find(({ locales }) => Reflect.get(locales.fr, 'name') !== undefined);
    assert.ok(map !== undefined);
    const french = String(Reflect.get(map.locales.fr, 'name'));
    const byId = await get(`/api/quests?map=${map.id}&limit=5000&fields=id`);
    assert.ok(byId.total > 0);
    for (const [word, lang] of [
      [french, '&lang=fr'],
      [String(map['name']), '&lang=fr'],
      [String(map['name']), ''],
    ]) {
      const q = encodeURIComponent(`map:"${word}"`);
      const found = await get(`/api/quests?q=${q}&limit=5000&fields=id${lang}`);
      assert.deepEqual(found.quests, byId.quests, `${word}${lang}`);
    }
  });
});

describe('parameters', () => {
  it('C16 a refusal names the word that was sent: expand, not include', async () => {
    for (const word of ['include', 'expand']) {
      await refused(server, `/api/traders?${word}=quests`, 'invalid_parameter', word);
      await refused(server, `/api/traders?envelope=page&${word}=nope`, 'unknown_field', word);
    }
  });

  it('C16 pages without parameters of their own tell which they ignored, or refuse them', async () => {
    const paths = ['', '/bulk', '/versions/1', '/schemas', '/schemas/items', '/openapi.json'];
    for (const path of paths) {
      const { headers } = await getJson<unknown>(server, `/api${path}?colour=red&lang=fr`);
      assert.equal(headers['x-ignored-params'], 'colour, lang', path);
      const plain = await getJson<unknown>(server, `/api${path}`);
      assert.equal(plain.headers['x-ignored-params'], undefined);
      assert.equal(headers['etag'], plain.headers['etag'], path);
      await refused(server, `/api${path}?colour=red&strict=true`, 'unknown_parameter', 'colour');
      await refused(server, `/api${path}?strict=perhaps`, 'invalid_parameter', 'strict');
    }
  });

  it('C11 search takes 100 characters, whatever their width', async () => {
    const wide = encodeURIComponent('\u{1F980}');
    assert.equal((await get(`/api/items?search=${wide.repeat(100)}`)).total, 0);
    await refused(server, `/api/items?search=${wide.repeat(101)}`, 'invalid_parameter', 'search');
  });
});
