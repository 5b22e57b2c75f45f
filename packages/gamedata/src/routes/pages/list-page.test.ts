// Source: gamedata, sections 1.3, 2.5 to 2.7 and 2.9.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Envelope, TestGameData, type WireRecord } from '../../testing/test-game-data.js';

describe('lists', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());

  interface Quest extends WireRecord {
    readonly slug: string;
    readonly title: string;
    readonly giverId: string;
    readonly locales: { readonly fr: { readonly title?: string } };
  }

  const quests = async (): Promise<readonly Quest[]> =>
    (await service.get('/api/quests?lang=all&limit=5000')).body.quests as readonly Quest[];
  const idsOf = ({ body }: { readonly body: Envelope }): readonly string[] =>
    (body.items ?? []).map(({ id }) => id);

  describe('search, filters and sorting', () => {
    it('search finds parts of names, ignoring case and diacritics', async () => {
      const all = (await service.get('/api/items?limit=5000')).body.items ?? [];
      for (const needle of ['GLASS', 'gläss', ' glass ', 'a']) {
        const plain = needle.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
        const expected = all
          .filter((item) =>
            [item['name'], item['shortName']].some((text) =>
              String(text).toLowerCase().includes(plain),
            ),
          )
          .map(({ id }) => id);
        const { body } = await service.get(
          `/api/items?limit=5000&search=${encodeURIComponent(needle)}`,
        );
        assert.deepEqual(
          (body.items ?? []).map(({ id }) => id),
          expected,
          needle,
        );
      }
      assert.equal((await service.get('/api/items?search=%20')).body.total, 420);
      await service.refused(`/api/items?search=${'a'.repeat(101)}`, 'invalid_parameter', 'search');
    });

    it('matches calibers exactly before prefixes, and filters by trader and baseId', async () => {
      const total = async (query: string) =>
        (await service.get(`/api/ammunition?${query}`)).body.total;
      assert.equal(await total('caliber=Caliber5x26Wren'), 7);
      assert.equal(await total('caliber=5X26-wren'), 7);
      assert.equal(await total('caliber=5x26'), 7);
      assert.equal(await total('caliber=1'), 6 * 4);
      assert.equal(await total('caliber=5x26,6x34'), 14);
      assert.equal(await total('caliber=nonsense'), 0);
      const quests = (await service.get('/api/quests?trader=odile%20varn&limit=5000')).body;
      assert.equal(quests.total, 16);
      for (const quest of quests.quests ?? []) assert.equal(quest['giver'], 'Odile Varn');
      const presets = (await service.get('/api/item-presets?limit=1')).body.presets ?? [];
      const baseId = String(presets[0]?.['baseId']);
      const same = (await service.get(`/api/item-presets?baseId=${baseId}`)).body.presets ?? [];
      assert.ok(same.length > 0 && same.every((preset) => preset['baseId'] === baseId));
    });

    it('applies numeric bounds, checks enumerations, and sorts ammunition by damage', async () => {
      const { body } = await service.get('/api/ammunition');
      const damages = (body.ammunition ?? []).map((round) =>
        Reflect.get(Object(round['ballistics']), 'damage'),
      );
      assert.deepEqual(
        damages,
        [...damages].sort((a, b) => b - a),
      );
      const priced = (
        await service.get('/api/items?minPrice=1000&maxPrice=2000&sort=-price&limit=5000')
      ).body;
      const prices = (priced.items ?? []).map((item) =>
        Reflect.get(Object(item['handbook']), 'price'),
      );
      assert.ok(prices.length > 0 && prices.every((price) => price >= 1000 && price <= 2000));
      assert.deepEqual(
        prices,
        [...prices].sort((a, b) => b - a),
      );
      await service.refused('/api/items?rarity=shiny', 'invalid_parameter', 'rarity');
      await service.refused('/api/items?minPrice=9&maxPrice=8', 'invalid_parameter', 'maxPrice');
      await service.refused('/api/ammunition?tracer=yes', 'invalid_parameter', 'tracer');
      await service.refused('/api/items?sort=beauty', 'unknown_field', 'sort');
      await service.refused('/api/items?sort=relevance', 'invalid_parameter', 'sort');
    });
  });

  describe('list format', () => {
    it('follows fields, ids, include and strict', async () => {
      const { body } = await service.get('/api/items?limit=2&fields=name,relations.soldBy.price');
      for (const item of body.items ?? []) {
        assert.deepEqual(Object.keys(item).sort(), ['id', 'name', 'relations']);
      }
      await service.refused('/api/items?fields=name,nothing', 'unknown_field', 'fields');
      const [first, second] = (await service.get('/api/items?limit=2')).body.items ?? [];
      const chosen = (await service.get(`/api/items?ids=${second?.id},nobody,${first?.id}`)).body;
      assert.deepEqual(
        (chosen.items ?? []).map(({ id }) => id),
        [first?.id, second?.id],
      );
      assert.deepEqual(chosen['notFound'], ['nobody']);
      for (const word of ['include', 'expand']) {
        const quests = (await service.get(`/api/quests?limit=1&${word}=trader,items`)).body;
        const [quest] = quests.quests ?? [];
        const included = quests['included'] as Record<string, Record<string, WireRecord>>;
        assert.equal(included['traders']?.[String(quest?.['giverId'])]?.['name'], quest?.['giver']);
      }
      await service.refused('/api/quests?include=nothing', 'unknown_field', 'include');
      await service.refused('/api/traders?include=quests', 'invalid_parameter', 'include');
      const ignored = await service.get('/api/items?limit=1&colour=red&size=2');
      assert.equal(ignored.headers['x-ignored-params'], 'colour, size');
      await service.refused('/api/items?colour=red&strict=true', 'unknown_parameter', 'colour');
    });
  });

  describe('filters by name', () => {
    it('accept a name with commas, as one or one of several values', async () => {
      const all = await quests();
      const withComma = all.find(({ title }) => title.includes(', '));
      const other = all.find(({ title }) => !title.includes(','));
      assert.ok(withComma !== undefined && other !== undefined);
      const items = async (quest: string): Promise<readonly string[]> =>
        idsOf(
          await service.get(`/api/items?limit=5000&fields=id&quest=${encodeURIComponent(quest)}`),
        );
      const bySlug = await items(withComma.slug);
      assert.ok(bySlug.length > 0);
      assert.deepEqual(await items(withComma.title), bySlug);
      assert.deepEqual(await items(withComma.title.toUpperCase()), bySlug);
      const both = await items(`${withComma.slug},${other.slug}`);
      assert.deepEqual(await items(`${other.title},${withComma.title}`), both);
      assert.deepEqual(await items(`${withComma.title},nobody,${other.id}`), both);
    });

    it('match names in the selected and in the default language', async () => {
      const all = await quests();
      const quest = all.find(
        ({ title, locales: { fr } }) => fr.title !== undefined && fr.title !== title,
      );
      const french = quest?.locales.fr.title;
      assert.ok(quest !== undefined && french !== undefined);
      const items = async (word: string, more = ''): Promise<readonly string[]> =>
        idsOf(
          await service.get(
            `/api/items?limit=5000&fields=id&quest=${encodeURIComponent(word)}${more}`,
          ),
        );
      const byId = await items(quest.id);
      assert.ok(byId.length > 0);
      assert.deepEqual(await items(french, '&lang=fr'), byId);
      assert.deepEqual(await items(quest.title, '&lang=fr'), byId);
      assert.deepEqual(await items(french), []);
    });

    it('match them also in fields of q that refer to other records', async () => {
      const maps = (await service.get('/api/maps?lang=all&envelope=page')).body[
        'data'
      ] as readonly Quest[];
      const map = maps.find(({ locales }) => Reflect.get(locales.fr, 'name') !== undefined);
      assert.ok(map !== undefined);
      const french = String(Reflect.get(map.locales.fr, 'name'));
      const byId = (await service.get(`/api/quests?map=${map.id}&limit=5000&fields=id`)).body;
      assert.ok(byId.total > 0);
      for (const [word, lang] of [
        [french, '&lang=fr'],
        [String(map['name']), '&lang=fr'],
        [String(map['name']), ''],
      ]) {
        const q = encodeURIComponent(`map:"${word}"`);
        const found = (await service.get(`/api/quests?q=${q}&limit=5000&fields=id${lang}`)).body;
        assert.deepEqual(found.quests, byId.quests, `${word}${lang}`);
      }
    });
  });

  describe('parameters', () => {
    it('reports the parameter as sent: expand, not include', async () => {
      for (const word of ['include', 'expand']) {
        await service.refused(`/api/traders?${word}=quests`, 'invalid_parameter', word);
        await service.refused(`/api/traders?envelope=page&${word}=nope`, 'unknown_field', word);
      }
    });

    it('list or reject parameters on pages without their own', async () => {
      const paths = ['', '/bulk', '/versions/1', '/schemas', '/schemas/items', '/openapi.json'];
      for (const path of paths) {
        const { headers } = await service.get<unknown>(`/api${path}?colour=red&lang=fr`);
        assert.equal(headers['x-ignored-params'], 'colour, lang', path);
        const plain = await service.get<unknown>(`/api${path}`);
        assert.equal(plain.headers['x-ignored-params'], undefined);
        assert.equal(headers['etag'], plain.headers['etag'], path);
        await service.refused(`/api${path}?colour=red&strict=true`, 'unknown_parameter', 'colour');
        await service.refused(`/api${path}?strict=perhaps`, 'invalid_parameter', 'strict');
      }
    });

    it('search accepts 100 characters of any encoded length', async () => {
      const wide = encodeURIComponent('\u{1F980}');
      assert.equal((await service.get(`/api/items?search=${wide.repeat(100)}`)).body.total, 0);
      await service.refused(`/api/items?search=${wide.repeat(101)}`, 'invalid_parameter', 'search');
    });
  });

  describe('unusual queries', () => {
    it('treats inherited property names as unknown fields', async () => {
      for (const q of ['constructor:1', 'has:__proto__', 'is:constructor', 'toString=x']) {
        const body = await service.refused(`/api/items?q=${q}`, 'invalid_query', 'q');
        assert.equal(body['position'], 0);
      }
      await service.refused('/api/items?sort=constructor', 'unknown_field', 'sort');
      await service.refused('/api/items?include=constructor', 'unknown_field', 'include');
    });

    it('accepts five nested parentheses and rejects six', async () => {
      await service.get(`/api/items?q=${'('.repeat(5)}a${')'.repeat(5)}`);
      const deep = `/api/items?q=${'('.repeat(6)}a${')'.repeat(6)}`;
      assert.equal((await service.refused(deep, 'invalid_query', 'q'))['position'], 5);
    });

    it('report an unknown id once', async () => {
      const { body } = await service.get<Envelope>('/api/items?ids=nope,nope');
      assert.deepEqual(body['notFound'], ['nope']);
    });

    it('report the language of a search', async () => {
      for (const path of ['/api/search?q=a&lang=fr', '/api/suggest?q=ab&lang=fr']) {
        assert.equal((await service.get(path)).headers['content-language'], 'fr', path);
      }
    });
  });

  describe('short names in two languages', () => {
    after(async () => {
      await service.done('POST', 'versions/1/restore');
    });

    it('are sorted and filtered as displayed, absent ones last', async () => {
      const item = (id: string, shortName: string | null, fr?: string) => ({
        ...{ id, name: `Name ${id}`, shortName },
        locales: fr === undefined ? {} : { fr: { shortName: fr } },
      });
      const items = [
        item('a', 'Zinc', 'Ail'),
        item('b', 'Bell'),
        item('c', null),
        item('d', 'Axe', 'Érable'),
        item('e', 'Mud', 'zèbre'),
      ];
      const head = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en', 'fr'] };
      const body = { ...head, kinds: { items } };
      await service.done('POST', 'import?mode=replace&publish=true', body);
      const cases: readonly (readonly [string, string])[] = [
        ['sort=shortName', 'd b e a c'],
        ['sort=-shortName', 'a e b d c'],
        ['sort=shortName&lang=fr', 'a b d e c'],
        ['sort=-shortName&lang=fr', 'e d b a c'],
        ['sort=-shortName,name&lang=fr&limit=2&offset=1', 'd b'],
        ['q=shortName:zinc', 'a'],
        ['q=shortName:zinc&lang=fr', ''],
        ['q=shortName=erable&lang=fr', 'd'],
        ['q=shortName:bell&lang=fr', 'b'],
      ];
      for (const [query, ids] of cases) {
        const { body: found } = await service.get<Envelope>(`/api/items?${query}`);
        assert.equal((found.items ?? []).map(({ id }) => id).join(' '), ids, query);
      }
    });
  });
});
