// Source: gamedata, sections 1.6, 2.7 and 8.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { COMMUNITY } from '../../testing/community-files.js';
import { EDITOR, TestGameData, type WireRecord } from '../../testing/test-game-data.js';

const HEAD = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en', 'fr'] };
const GOOD = { id: 'good', name: 'Good', category: 'barter' };
const MAX_RECORD_COUNT = 5_000;
const BAD_TEXTS = ['\ud800', 'a\u0000', '\udc00b', 'x\ud83dy'];

interface ImportReply {
  readonly counts: Record<string, number>;
  readonly warnings: { readonly byCode: Record<string, number>; readonly total: number };
  readonly published: boolean;
}

describe('imports and exports', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start({
      'gamedata-max-import-records': String(MAX_RECORD_COUNT),
    });
  });
  after(() => service[Symbol.asyncDispose]());
  beforeEach(() => service.done('POST', 'versions/1/restore'));

  async function json<T = WireRecord>(path: string): Promise<T> {
    return (await service.get<T>(path)).body;
  }
  const importFiles = async (files: object, more = ''): Promise<ImportReply> => {
    const path = `import?format=tarkovdata&mode=replace&publish=true${more}`;
    return (await service.done('POST', path, files)).json as unknown as ImportReply;
  };
  const exportFiles = async (): Promise<unknown> =>
    (await service.done('GET', 'export?format=tarkovdata')).json;

  it('imports its own exports; a dry run changes nothing', async () => {
    const exported = await service.send('/api/editor/export', { headers: EDITOR });
    const set = JSON.parse(exported.text) as { kinds: Record<string, WireRecord[]> };
    assert.equal(set.kinds['items']?.length, 420);
    const smaller = { ...set, kinds: { items: set.kinds['items']?.slice(0, 3) } };
    const dry = await service.done('POST', 'import?mode=replace&dryRun=true', smaller);
    assert.equal((dry.json['counts'] as Record<string, number>)['items'], 3);
    assert.equal((await service.edit('GET', 'items?limit=0')).json['total'], 420);
    const replaced = await service.edit('POST', 'import?mode=replace&publish=true', set);
    assert.equal(replaced.json['published'], true);
    const again = await service.send('/api/editor/export', { headers: EDITOR });
    assert.equal(again.text, exported.text);
  });

  it('strict imports reject a broken reference, others remove it with a warning', async () => {
    const preset = {
      id: 'ip1',
      name: 'Preset',
      baseId: 'thing',
      mods: [{ slot: 'a', item: 'nobody' }],
    };
    const body = {
      format: 'plinth-gamedata/1',
      kinds: { items: [{ id: 'thing', name: 'Thing' }], itemPresets: [preset] },
    };
    const strict = await service.edit('POST', 'import?strict=true&publish=true', body);
    assert.deepEqual([strict.status, strict.json['code']], [400, 'validation_failed']);
    assert.equal((await service.edit('GET', 'items/thing')).status, 404);
    const repaired = await service.done('POST', 'import?publish=true', body);
    const warnings = repaired.json['warnings'] as { byCode: Record<string, number> };
    assert.ok((warnings.byCode['dangling_reference'] ?? 0) > 0);
    assert.deepEqual((await service.read('/api/item-presets/ip1')).json['mods'], []);
  });

  it('reads large imports in a thread, and rejects them like small ones', async () => {
    const items = Array.from({ length: 3_000 }, (_entry, index) => ({
      id: `large-${index}`,
      name: `Large ${index}`,
      description: 'a long text. '.repeat(20),
    }));
    const body = (last: object): object => ({
      format: 'plinth-gamedata/1',
      kinds: { items: [...items, last] },
    });
    const faulty = await service.edit('POST', 'import?publish=true', body({ id: 'bad', name: 7 }));
    assert.deepEqual([faulty.status, faulty.json['code']], [400, 'validation_failed']);
    const [detail] = faulty.json['details'] as { path: string; id: string }[];
    assert.deepEqual([detail?.path, detail?.id], ['/kinds/items/3000/name', 'bad']);
    const twice = await service.edit(
      'POST',
      'import?publish=true',
      body({ id: 'large-7', name: 'x' }),
    );
    assert.equal((twice.json['details'] as { code: string }[])[0]?.code, 'duplicate_id');
    const text = JSON.stringify(body({ id: 'cut', name: 'x' }));
    const cut = await service.send('/api/editor/import?publish=true', {
      headers: EDITOR,
      body: text.slice(0, -5),
    });
    assert.deepEqual([cut.status, JSON.parse(cut.text).code], [400, 'invalid_json']);
    assert.equal((await service.edit('GET', 'items/large-1')).status, 404);
    const dangling = { id: 'last', name: 'Last', handbook: { parent: 'nowhere', price: 1 } };
    const taken = await service.done('POST', 'import?publish=true', body(dangling));
    assert.deepEqual(taken.json['counts'], {
      ...Object.fromEntries(Object.keys(Object(taken.json['counts'])).map((key) => [key, 0])),
      items: 3_001,
    });
    const warnings = taken.json['warnings'] as { sample: { code: string; path: string }[] };
    assert.deepEqual(
      warnings.sample.map(({ code, path }) => [code, path]),
      [['dangling_reference', '/kinds/items/3000/handbook/parent']],
    );
    const [first] = (await service.read('/api/items?ids=large-2999')).json['items'] as WireRecord[];
    assert.equal(first?.['name'], 'Large 2999');
  });

  it('rejects imports that would replace all records with none', async () => {
    const head = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en'] };
    for (const [path, body] of [
      ['/kind', { ...head, kinds: {}, kind: { items: [] } }],
      ['/languages', { ...head, languages: ['en', 'all'], kinds: {} }],
      ['/defaultLanguage', { ...head, defaultLanguage: 'all', kinds: {} }],
    ] as const) {
      const { status, json } = await service.edit('POST', 'import?mode=replace&publish=true', body);
      const [fault] = json['details'] as WireRecord[];
      assert.deepEqual([status, json['code'], fault?.['path']], [400, 'validation_failed', path]);
    }
    assert.equal((await service.get('/api/items?limit=0')).body.total, 420);
  });

  it('rejects a version message with NUL or a lone surrogate', async () => {
    for (const message of BAD_TEXTS) {
      assert.deepEqual(await service.faults('POST', 'save', { message }), [
        'invalid_text /message',
      ]);
    }
  });

  it('rejects texts with NUL or a lone surrogate, with their position in the body', async () => {
    const before = (await service.done('GET', 'types')).json;
    for (const text of BAD_TEXTS) {
      for (const query of ['dryRun=true', 'publish=true', 'mode=replace']) {
        const items = [GOOD, { ...GOOD, id: 'bad', description: text }];
        assert.deepEqual(
          await service.faults('POST', `import?${query}`, { ...HEAD, kinds: { items } }),
          ['invalid_text /kinds/items/1/description'],
        );
        const aliases = { items: { old: text } };
        assert.deepEqual(
          await service.faults('POST', `import?${query}`, { ...HEAD, aliases, kinds: {} }),
          ['invalid_text /aliases/items/old'],
        );
      }
      const files = { 'data/items.en.json': { a1: { id: 'a1', name: text, shortName: 'a' } } };
      assert.deepEqual(await service.faults('POST', 'import?format=tarkovdata', files), [
        'invalid_text items.en.json/a1/name',
      ]);
    }
    assert.deepEqual((await service.done('GET', 'types')).json, before);
  });

  it('applies the nesting limit of single changes to imports', async () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const imported = (depth: number): readonly (readonly [string, string])[] => {
      const record = `{"id":"deep","name":"a","category":"barter","extra":{"x":${nested(depth - 2)}}}`;
      const head = JSON.stringify(HEAD).slice(0, -1);
      return [
        ['import?dryRun=true', `${head},"kinds":{"items":[${record}]}}`],
        ['import?dryRun=true&format=tarkovdata', `{"more.json":${nested(depth)}}`],
      ];
    };
    for (const [path, body] of imported(32)) await service.done('POST', path, body);
    for (const depth of [33, 50_000]) {
      for (const [path, body] of imported(depth)) {
        const [fault, ...others] = await service.faults('POST', path, body);
        assert.match(fault ?? '', /^too_deep /, `${path} ${depth}`);
        assert.deepEqual(others, []);
      }
    }
  });

  it('requires the default language among the languages of an import', async () => {
    for (const mode of ['merge', 'replace']) {
      for (const languages of [['fr'], []]) {
        assert.deepEqual(
          await service.faults('POST', `import?mode=${mode}`, { ...HEAD, languages, kinds: {} }),
          ['wrong_shape /defaultLanguage'],
        );
      }
    }
    const { languages: _, ...alone } = HEAD;
    // An import that names no languages has only the default one.
    await service.done('POST', 'import?dryRun=true', { ...alone, kinds: {} });
  });

  it('limits the number of records of an import', async () => {
    const items = Array.from({ length: MAX_RECORD_COUNT + 1 }, (_, n) => ({
      id: `i${n}`,
      name: 'n',
    }));
    const { status, json } = await service.edit('POST', 'import', { ...HEAD, kinds: { items } });
    const error = `the import has more than ${MAX_RECORD_COUNT} records`;
    assert.deepEqual([status, json], [413, { error, code: 'too_large' }]);
    assert.equal((await service.edit('GET', 'items/i0')).status, 404);
  });

  it('imports community files with a warning per known fault, and exports them unchanged', async () => {
    const reply = await importFiles(COMMUNITY);
    assert.deepEqual(reply.counts, {
      items: 3,
      ammunition: 1,
      traders: 2,
      quests: 3,
      maps: 1,
      hideout: 2,
      itemPresets: 1,
      levels: 3,
      storyline: 1,
    });
    const codes = [
      'ammo_without_item',
      'duplicate_id',
      'shared_game_id',
      'missing_level',
      'no_objectives',
      'duplicate_objective_id',
      'missing_location',
      'shared_name',
      'name_differs',
      'missing_value',
      'dangling_reference',
    ];
    for (const code of codes) assert.ok((reply.warnings.byCode[code] ?? 0) > 0, code);
    const quest = await json('/api/quests/0');
    assert.deepEqual([quest['giver'], quest['title']], ['First', 'Opening']);
    const conditions = quest['conditions'] as { location: string; objectives: WireRecord[] };
    assert.equal(conditions.location, 'woods');
    assert.deepEqual(conditions.objectives[1]?.['itemIds'], [
      'aaaaaaaaaaaaaaaaaaaaaaa1',
      'aaaaaaaaaaaaaaaaaaaaaaa3',
    ]);
    assert.equal((await json('/api/quests/0?lang=ru'))['title'], 'Начало');
    assert.equal((await json('/api/levels/3'))['exp'], 4017);
    const traders = await json<Record<string, WireRecord>>('/api/traders');
    assert.deepEqual([traders['first']?.id, traders['second']?.id], ['7', 'second']);
    const generator = await json<{ levels: { modules: unknown; traders: unknown }[] }>(
      '/api/hideout/1',
    );
    assert.deepEqual(generator.levels[0]?.modules, [{ id: '0', level: 1 }]);
    assert.deepEqual(generator.levels[0]?.traders, [{ id: '7', level: 2 }]);
    assert.deepEqual(await exportFiles(), COMMUNITY);
    const list = { data: { items: Object.values(COMMUNITY['items.en.json']) } };
    const second = { 'data/items.en.json': list };
    await importFiles(second);
    assert.deepEqual(await exportFiles(), { 'items.en.json': list });
  });

  it('keeps manual edits over the next import with overlay=true', async () => {
    await importFiles(COMMUNITY);
    await service.done('PATCH', 'items/aaaaaaaaaaaaaaaaaaaaaaa1', { name: 'Crimson card' });
    await service.done('POST', 'save');
    for (let round = 0; round < 2; round++) {
      await importFiles(COMMUNITY, '&overlay=true');
      const item = await json('/api/items/aaaaaaaaaaaaaaaaaaaaaaa1');
      assert.equal(item['name'], 'Crimson card', `round ${round}`);
    }
  });

  it('warns about manual edits and records that the next import does not contain', async () => {
    const native = (items: readonly object[]): object => ({
      format: 'plinth-gamedata/1',
      defaultLanguage: 'en',
      languages: ['en'],
      kinds: { items },
    });
    const kept = { id: 'kept-1', name: 'Kept', category: 'barter' };
    const gone = { id: 'gone-1', name: 'Gone', category: 'barter' };
    const path = 'import?mode=replace&publish=true';
    await service.done('POST', path, native([kept, gone]));
    for (const id of ['kept-1', 'gone-1']) {
      await service.done('PATCH', `items/${id}`, { tags: ['by-hand'] });
    }
    await service.done('POST', 'items', { id: 'made-1', name: 'Made', category: 'barter' });
    await service.done('POST', 'save');
    const { json: reply } = await service.done('POST', `${path}&overlay=true`, native([kept]));
    const warnings = reply['warnings'] as { sample: { code: string; path: string }[] };
    assert.deepEqual(
      warnings.sample.map((warning) => [warning.code, warning.path]),
      [
        ['overlay_conflict', '/items/gone-1'],
        ['overlay_conflict', '/items/made-1'],
      ],
    );
    assert.deepEqual((await json('/api/items/kept-1'))['tags'], ['by-hand']);
  });

  it('rejects files of another shape by name, and changes nothing', async () => {
    const before = await json('/api');
    const cases: [string, string][] = [
      ['{"quests.json":{}}', 'quests.json'],
      ['{"hideout.json":{"stations":1}}', 'hideout.json'],
      ['{"traders.json":[1]}', 'traders.json'],
      ['{"levels.json":{"x":{"exp":1}}}', 'levels.json'],
    ];
    for (const [body, file] of cases) {
      const path = 'import?format=tarkovdata&publish=true';
      const { status, json: refusal } = await service.edit('POST', path, body);
      assert.equal(status, 400, body);
      assert.equal((refusal['details'] as WireRecord[])[0]?.['file'], file);
    }
    for (const body of [
      '',
      '{',
      '[]',
      '{"format":"x"}',
      '{"format":"plinth-gamedata/1"}',
      '{"format":"plinth-gamedata/1","kinds":{"items":[{]}}',
      '{"format":"plinth-gamedata/1","kinds":{"items":[1]}}',
    ]) {
      const { status } = await service.edit('POST', 'import?publish=true', body);
      assert.equal(status, 400, body);
    }
    assert.deepEqual(await json('/api'), before);
  });
});
