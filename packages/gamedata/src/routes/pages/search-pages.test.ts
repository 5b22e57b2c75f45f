// Source: gamedata, sections 2.5, 2.7 and 2.8.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Envelope, TestGameData, type WireRecord } from '../../testing/test-game-data.js';

describe('searches', () => {
  let service: TestGameData;
  before(async () => {
    // The text of a few thousand records is partly in memory, but mostly in the file.
    service = await TestGameData.start({ 'gamedata-text-memory-bytes': '300kb' });
  });
  after(() => service[Symbol.asyncDispose]());

  describe('q, search and suggest', () => {
    it('q combines words, phrases, fields and operators', async () => {
      const all = (await service.get('/api/items?limit=5000')).body.items ?? [];
      const price = (item: WireRecord) => Number(Reflect.get(Object(item['handbook']), 'price'));
      const text = (item: WireRecord) => `${item['name']} ${item['description']}`;
      const related = ({ relations }: WireRecord) => {
        const { quests, rewardedBy } = relations as Record<string, readonly string[]>;
        return [...(quests ?? []), ...(rewardedBy ?? [])];
      };
      const cases: readonly (readonly [string, (item: WireRecord) => boolean])[] = [
        ['category:key', (item) => item['category'] === 'key'],
        [
          'category:key price>=20000 -rarity:common',
          (item) =>
            item['category'] === 'key' && price(item) >= 20000 && item['rarity'] !== 'common',
        ],
        [
          '(category:food OR category:currency) price<1000',
          (item) => ['food', 'currency'].includes(String(item['category'])) && price(item) < 1000,
        ],
        ['"salt toffee"', (item) => /salt toffee/i.test(text(item))],
        ['name:toffee', (item) => /toffee/i.test(String(item['name']))],
        ['toffe~', (item) => /\btoffee\b/i.test(text(item))],
        ['has:weight -has:rarity', (item) => item['weight'] !== null && item['rarity'] === null],
        ['has:quest', (item) => related(item).length > 0],
      ];
      for (const [q, test] of cases) {
        const { items } = (await service.get(`/api/items?limit=5000&q=${encodeURIComponent(q)}`))
          .body;
        const expected = all.filter(test).map(({ id }) => id);
        assert.deepEqual(
          items?.map(({ id }) => id),
          expected,
          q,
        );
      }
      const position = async (q: string) =>
        (await service.refused(`/api/items?q=${encodeURIComponent(q)}`, 'invalid_query', 'q'))[
          'position'
        ];
      assert.equal(await position('abc ('), 5);
      assert.equal(await position('ab "cd'), 3);
      assert.equal(await position('nofield:1'), 0);
      assert.equal(await position('name>3'), 0);
      assert.equal(await position('a has:nothing'), 2);
      assert.equal(await position('is:nothing'), 0);
      assert.equal(await position('is:name'), 0);
      await position('((((((a))))))');
      await position(Array.from({ length: 31 }, (_entry, index) => `w${index}`).join(' '));
    });

    it('search orders all hits by score, kind and id, on all page sizes', async () => {
      type Hits = { results: { kind: string; id: string; score: number }[]; total: number };
      const kinds = ['items', 'ammunition', 'traders', 'quests', 'maps', 'hideout'];
      kinds.push('item-presets', 'levels', 'storyline');
      for (const q of ['a', '-salt', 'the OR of', 'salt~']) {
        const ask = async (limit: number, offset: number): Promise<Hits> => {
          const query = new URLSearchParams({ q, limit: String(limit), offset: String(offset) });
          return (await service.get<Hits>(`/api/search?${query}`)).body;
        };
        const { total, results } = await ask(1_000, 0);
        assert.ok(total > 30 && total <= 1_000, `${q}: ${total}`);
        assert.equal(results.length, total);
        const expected = [...results].sort(
          (a, b) =>
            b.score - a.score ||
            kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
            (a.id < b.id ? -1 : 1),
        );
        assert.deepEqual(results, expected, q);
        assert.equal(new Set(results.map(({ kind, id }) => `${kind}/${id}`)).size, total);
        const paged: Hits['results'] = [];
        while (paged.length < total) {
          const page = await ask(17, paged.length);
          assert.equal(page.total, total);
          paged.push(...page.results);
        }
        assert.deepEqual(paged, results, q);
        assert.deepEqual((await ask(20, total)).results, []);
        assert.equal((await ask(0, 0)).total, total);
      }
    });

    it('search covers all kinds, also for misspelled words', async () => {
      type Hits = { results: { kind: string; name: string; score: number }[]; total: number };
      const hits = (await service.get<Hits>('/api/search?q=odile')).body.results;
      assert.ok(hits.some(({ kind, name }) => kind === 'traders' && name === 'Odile Varn'));
      const scores = hits.map(({ score }) => score);
      assert.deepEqual(
        scores,
        [...scores].sort((a, b) => b - a),
      );
      const typo = (await service.get<Hits>('/api/search?q=quarantin+odlie')).body;
      assert.equal(typo.total, 0);
      const fuzzy = (await service.get<Hits>('/api/search?q=oddile&kinds=traders')).body.results;
      assert.equal(fuzzy[0]?.name, 'Odile Varn');
      // Approximate matching applies only to words without an exact match.
      const exact = (await service.get<Hits>('/api/search?q=odile&kinds=traders,levels')).body
        .results;
      assert.deepEqual([...new Set(exact.map(({ kind }) => kind))], ['traders']);
      type Names = { suggestions: { name: string; kind: string }[] };
      const start = (await service.get<Names>('/api/suggest?q=odi')).body.suggestions;
      assert.equal(start[0]?.name, 'Odile Varn');
      const mistyped = (await service.get<Names>('/api/suggest?q=odiel')).body.suggestions;
      assert.ok(mistyped.some(({ name }) => name === 'Odile Varn'));
      await service.refused('/api/suggest?q=o', 'invalid_parameter', 'q');
      await service.refused('/api/suggest?q=odi&limit=21', 'invalid_parameter', 'limit');
      await service.refused('/api/search?q=odi&kinds=ships', 'invalid_parameter', 'kinds');
    });
  });

  it('q matches complete ids, and parts of text', async () => {
    const [{ id = '' } = {}] = (await service.get('/api/items?limit=1')).body.items ?? [];
    const total = async (q: string) =>
      (await service.get(`/api/items?q=${encodeURIComponent(q)}`)).body.total;
    assert.equal(await total(`id:${id}`), 1);
    assert.equal(await total(`id:${id.slice(0, 4)}`), 0);
    assert.equal(await total(`id!=${id}`), 419);
  });

  describe('thousands of records in two languages', () => {
    const COUNT = 4_000;
    const isNamed = (n: number): boolean => n % 4 !== 0;

    before(async () => {
      const items = Array.from({ length: COUNT }, (_, n) => ({
        id: `i${n}`,
        name: `Lamp ${n}`,
        description: `Burns for ${n} hours`,
        // A quarter of the records have no name in this language and fall back.
        locales: {
          fr: { ...(isNamed(n) && { name: `Œil ${n}` }), description: `Brûle ${n} heures` },
        },
      }));
      const head = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en', 'fr'] };
      const body = { ...head, kinds: { items } };
      await service.done('POST', 'import?mode=replace&publish=true', body);
    });
    after(async () => {
      await service.done('POST', 'versions/1/restore');
    });

    const namedCount = Array.from({ length: COUNT }, (_, n) => n).filter(isNamed).length;

    it('are found in both languages, from the first query on', async () => {
      const totals: readonly (readonly [string, number])[] = [
        ['q=lamp', COUNT],
        ['q=lamp&lang=fr', COUNT - namedCount],
        ['q=%C5%93il&lang=fr', namedCount],
        ['q=oeil&lang=fr', 0],
        ['q=brule&lang=fr', COUNT],
        ['q=heure~&lang=fr', COUNT],
        ['q="brule 12 heures"&lang=fr', 1],
        ['q="le 1234 he"&lang=fr', 1],
        ['q="burns for 12 hours"&lang=fr', 0],
        ['q="burns for 12 hours"', 1],
        ['search=lamp 399&lang=fr', 11],
        ['search=%C5%93IL 399&lang=fr', 9],
        ['search=%C5%93il 399', 0],
      ];
      for (const [query, total] of totals) {
        const path = `/api/items?limit=0&${query.replaceAll(' ', '%20')}`;
        assert.equal((await service.get<Envelope>(path)).body.total, total, query);
      }
    });

    it('have names, field texts and order of the selected language', async () => {
      const totals: readonly (readonly [string, number])[] = [
        ['q=name:lamp', COUNT],
        ['q=name:lamp&lang=fr', COUNT - namedCount],
        ['q=name:%C5%93il&lang=fr', namedCount],
        ['q=name="%C5%92IL 1234"&lang=fr', 1],
        ['q=-name:%C5%93il&lang=fr', COUNT - namedCount],
        ['q=name!="%C5%93il 5"&lang=fr', COUNT - 1],
        ['q=description:burns&lang=fr', 0],
        ['q=description:"brule 12 heures"&lang=fr', 1],
        ['q=description:"burns for 12 hours"', 1],
      ];
      for (const [query, total] of totals) {
        const path = `/api/items?limit=0&${query.replaceAll(' ', '%20')}`;
        assert.equal((await service.get<Envelope>(path)).body.total, total, query);
      }
      const { body } = await service.get<Envelope>('/api/items?sort=-name&lang=fr&limit=5000');
      const shown = (body.items ?? []).map(({ name }) => String(name));
      // Translated names start with a letter after ASCII, so they sort last by code point, as
      // specified.
      const byHand = Array.from({ length: COUNT }, (_, n) =>
        isNamed(n) ? `œil ${n}` : `lamp ${n}`,
      )
        .sort((a, b) => (a < b ? 1 : -1))
        .map((name) => name.replace('œil', 'Œil').replace('lamp', 'Lamp'));
      assert.deepEqual(shown, byHand);
      await service.refused('/api/items?q=name>a&lang=fr', 'invalid_query', 'q');
      await service.refused('/api/items?q=nothing:a&lang=fr', 'invalid_query', 'q');
    });

    it('are served as sent, in pages and separately, also after a restart', async () => {
      const check = async (): Promise<void> => {
        const { body } = await service.get<Envelope>(`/api/items?limit=${COUNT}&lang=fr`);
        const { items = [] } = body;
        assert.equal(items.length, COUNT);
        for (const [n, record] of items.entries()) {
          const { id, name, description } = record;
          assert.equal(id, `i${n}`);
          assert.equal(name, isNamed(n) ? `Œil ${n}` : `Lamp ${n}`);
          assert.equal(description, `Brûle ${n} heures`);
        }
        // Far apart, so that read-ahead does not help.
        for (let step = 0, n = 0; step < 60; step += 1, n = (n + 1571) % COUNT) {
          const { body: record } = await service.get<WireRecord>(`/api/items/i${n}`);
          assert.equal(record['name'], `Lamp ${n}`);
          assert.equal(record['description'], `Burns for ${n} hours`);
        }
      };
      await check();
      await service.stop();
      assert.deepEqual(await readdir(join(service.dataDir, 'gamedata')), [], 'nothing is left');
      await service.restart();
      await check();
    });

    it('are found by suggest and search, including edits', async () => {
      const suggest = async (q: string): Promise<readonly string[]> => {
        const path = `/api/suggest?lang=fr&limit=3&q=${encodeURIComponent(q)}`;
        const { body } = await service.get<{ suggestions: WireRecord[] }>(path);
        return body.suggestions.map(({ id }) => id);
      };
      assert.deepEqual(await suggest('Œil 3999'), ['i3999', 'i1999', 'i2999']);
      await service.done('PATCH', 'items/i7', { name: 'Beacon' });
      await service.done('POST', 'save');
      for (const [q, ids] of [
        ['beacon', ['i7']],
        ['lamp 7', ['i70']],
        ['lamp 8', ['i8']],
      ] as const) {
        const path = `/api/search?kinds=items&limit=1&q=${encodeURIComponent(`"${q}"`)}`;
        const { body } = await service.get<{ results: WireRecord[] }>(path);
        assert.deepEqual(
          body.results.map(({ id }) => id),
          ids,
          q,
        );
      }
    });
  });
});
