// Source: gamedata, sections 1.6, 7 and 8.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createGameDataClient } from '@plinth/gamedata-client';
import { runCli } from '../../harness/cli.js';
import { POSTGRES_URL, ServerProcess, until } from '../../harness/index.js';
import type { Envelope, WireRecord } from './game-client.js';
import { edit, gamedataNodes, isOpen, shownBy } from './shared-nodes.js';

const TOKEN = 'editor-token-for-tests';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({
    flags: ['--services', 'gamedata'],
    env: { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
  });
});
after(() => server.close());

async function json<T>(path: string, body?: unknown): Promise<T> {
  const answer = await server.http.send(path, {
    headers: HEADERS,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  assert.equal(answer.status, 200, `${path}: ${answer.text.slice(0, 600)}`);
  return JSON.parse(answer.text) as T;
}

interface ImportReply {
  readonly counts: Record<string, number>;
  readonly warnings: { readonly byCode: Record<string, number>; readonly total: number };
  readonly published: boolean;
}

/** One of everything, with every fault that the community's files are known for. */
const COMMUNITY = {
  'items.en.json': {
    aaaaaaaaaaaaaaaaaaaaaaa1: {
      id: 'aaaaaaaaaaaaaaaaaaaaaaa1',
      name: 'Red card',
      shortName: 'Red',
    },
    aaaaaaaaaaaaaaaaaaaaaaa2: {
      id: 'aaaaaaaaaaaaaaaaaaaaaaa2',
      name: 'Long gun',
      shortName: 'Gun',
    },
    aaaaaaaaaaaaaaaaaaaaaaa3: {
      id: 'aaaaaaaaaaaaaaaaaaaaaaa3',
      name: 'Red card',
      shortName: 'Red',
    },
  },
  'items.ru.json': {
    aaaaaaaaaaaaaaaaaaaaaaa1: {
      id: 'aaaaaaaaaaaaaaaaaaaaaaa1',
      name: 'Красная карта',
      shortName: 'Кр',
    },
  },
  'ammunition.json': {
    bbbbbbbbbbbbbbbbbbbbbbb1: {
      id: 'bbbbbbbbbbbbbbbbbbbbbbb1',
      name: '9x18 round',
      shortName: 'round',
      caliber: 'Caliber9x18PM',
      tracer: false,
      tracerColor: 'red',
      ammoType: 'bullet',
      projectileCount: 1,
      ballistics: {
        damage: 50,
        armorDamage: 10,
        fragmentationChance: 0.2,
        ricochetChance: 0.05,
        penetrationChance: 0.1,
        penetrationPower: 5,
        accuracy: -5,
        recoil: 3,
        initialSpeed: 300,
      },
    },
  },
  'traders.json': {
    first: {
      id: 7,
      name: 'First Person',
      locale: { en: 'First', ru: 'Первый' },
      wiki: 'https://wiki.example/first',
      description: 'one',
      currencies: ['RUB'],
      salesCurrency: 'RUB',
      loyalty: [
        { level: 1, requiredLevel: 1, requiredReputation: 0, requiredSales: 0 },
        { level: 2, requiredLevel: 15, requiredReputation: 0.2, requiredSales: 750000 },
      ],
    },
    second: {
      id: 7,
      name: 'Second Person',
      locale: { en: 'Second' },
      wiki: '',
      description: 'two',
      currencies: ['USD'],
      salesCurrency: 'USD',
      loyalty: [],
    },
  },
  'maps.json': {
    woods: {
      id: 2,
      tdevId: 'x',
      locale: { en: 'Woods' },
      wiki: '',
      description: 'trees',
      enemies: ['Scavs'],
      raidDuration: { day: 40, night: 45 },
      svg: { file: 'Woods.svg', floors: ['Ground_Level'], defaultFloor: 'Ground_Level' },
    },
  },
  'quests.json': [
    {
      id: 0,
      gameId: 'g1',
      require: { level: null, quests: [] },
      giver: 7,
      turnin: 7,
      title: 'Opening',
      locales: { en: 'Opening', ru: 'Начало' },
      wiki: 'https://wiki.example/opening',
      exp: 1700,
      unlocks: ['aaaaaaaaaaaaaaaaaaaaaaa2'],
      reputation: [{ trader: 7, rep: 0.02 }],
      objectives: [
        {
          type: 'find',
          target: 'aaaaaaaaaaaaaaaaaaaaaaa1',
          number: 3,
          location: 2,
          id: 13,
          gps: { leftPercent: 10.5, topPercent: 20, floor: 'Ground_Level' },
        },
        {
          type: 'key',
          target: ['aaaaaaaaaaaaaaaaaaaaaaa1', 'aaaaaaaaaaaaaaaaaaaaaaa3'],
          number: 1,
          location: 2,
          id: 14,
        },
      ],
    },
    {
      id: 1,
      gameId: 'g1',
      require: { level: 5, quests: [0, [0]], loyalty: [{ trader: 7, stage: 2 }] },
      giver: 7,
      turnin: 7,
      title: 'Second',
      exp: 10,
      unlocks: ['ffffffffffffffffffffffff'],
      reputation: [],
      reputationFailure: [{ trader: 99, rep: -1 }],
      nokappa: true,
      objectives: [
        {
          type: 'kill',
          target: 'Scavs',
          number: 5,
          id: 13,
          with: ['Grenade', { type: 'stat', name: 'height', value: 3 }],
        },
        { type: 'skill', target: 'Endurance', number: 4, location: -2, id: 15 },
      ],
    },
    {
      id: 2,
      require: {},
      giver: 7,
      turnin: 7,
      title: 'Empty',
      exp: 0,
      unlocks: [],
      reputation: [],
      objectives: [],
    },
  ],
  'hideout.json': {
    stations: [
      { id: 0, locales: { en: 'Nutrition Unit' }, function: 'food', imgSource: '/img/n.png' },
      {
        id: 1,
        locales: { en: 'Generator' },
        function: 'power',
        imgSource: '/img/g.png',
        disabled: true,
      },
    ],
    modules: [
      {
        module: 'Generator',
        level: 1,
        id: 6,
        stationId: 1,
        require: [
          { type: 'item', name: 'aaaaaaaaaaaaaaaaaaaaaaa1', quantity: 2, id: 1 },
          { type: 'module', name: 'Nutrition unit', quantity: 1, id: 2 },
          { type: 'trader', name: 7, quantity: 2, id: 3 },
          { type: 'skill', name: 'Endurance', quantity: 3, id: 4 },
        ],
      },
      { module: 'Nutrition Unit', level: 1, id: 7, stationId: 0, require: [] },
    ],
  },
  'item_presets.json': {
    cccccccccccccccccccccccc: {
      id: 'cccccccccccccccccccccccc',
      name: 'Long gun Default',
      appendName: 'Default',
      default: true,
      baseId: 'aaaaaaaaaaaaaaaaaaaaaaa2',
      parts: [
        { id: 'aaaaaaaaaaaaaaaaaaaaaaa2', quantity: 1 },
        { id: 'aaaaaaaaaaaaaaaaaaaaaaa3', quantity: 2 },
      ],
    },
  },
  'levels.json': {
    1: { exp: 0, group: 1 },
    2: { exp: 1000, group: 1 },
    3: { exp: 3017, group: 2, total: 4017 },
  },
  'storyline.json': {
    storylines: ['Falling Skies'],
    chapters: {
      'Falling Skies': {
        id: 'falling-skies',
        name: 'Falling Skies',
        requirements: 'none',
        description: 'a plane',
        objectives: [{ id: 'o1', type: 'locate', description: 'Find it', map: 'Woods' }],
        optionalObjectives: [{ id: 'o2', description: 'Maybe' }],
        rewards: [{ type: 'exp', value: 5 }],
        branches: {},
      },
    },
  },
};

describe('the community layout', () => {
  it('C39 is taken in with every known fault named, C40 and comes out as it went in', async () => {
    const reply = await json<ImportReply>(
      '/api/editor/import?format=tarkovdata&mode=replace&publish=true',
      COMMUNITY,
    );
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
    const quest = await json<WireRecord>('/api/quests/0');
    assert.deepEqual([quest['giver'], quest['title']], ['First', 'Opening']);
    const conditions = quest['conditions'] as { location: string; objectives: WireRecord[] };
    assert.equal(conditions.location, 'woods');
    assert.deepEqual(conditions.objectives[1]?.['itemIds'], [
      'aaaaaaaaaaaaaaaaaaaaaaa1',
      'aaaaaaaaaaaaaaaaaaaaaaa3',
    ]);
    assert.equal((await json<WireRecord>('/api/quests/0?lang=ru'))['title'], 'Начало');
    assert.equal((await json<WireRecord>('/api/levels/3'))['exp'], 4017);
    const traders = await json<Record<string, WireRecord>>('/api/traders');
    assert.deepEqual([traders['first']?.id, traders['second']?.id], ['7', 'second']);
    const generator = await json<{ levels: { modules: unknown; traders: unknown }[] }>(
      '/api/hideout/1',
    );
    assert.deepEqual(generator.levels[0]?.modules, [{ id: '0', level: 1 }]);
    assert.deepEqual(generator.levels[0]?.traders, [{ id: '7', level: 2 }]);
    const out = await json<unknown>('/api/editor/export?format=tarkovdata');
    assert.deepEqual(out, COMMUNITY);
    const list = { data: { items: Object.values(COMMUNITY['items.en.json']) } };
    const second = { 'data/items.en.json': list };
    await json<ImportReply>(
      '/api/editor/import?format=tarkovdata&mode=replace&publish=true',
      second,
    );
    assert.deepEqual(await json<unknown>('/api/editor/export?format=tarkovdata'), {
      'items.en.json': list,
    });
  });

  it('C41 keeps hand edits over the next import when asked to', async () => {
    await json<ImportReply>(
      '/api/editor/import?format=tarkovdata&mode=replace&publish=true',
      COMMUNITY,
    );
    const edit = await server.http.send('/api/editor/items/aaaaaaaaaaaaaaaaaaaaaaa1', {
      method: 'PATCH',
      headers: HEADERS,
      body: JSON.stringify({ name: 'Crimson card' }),
    });
    assert.equal(edit.status, 200);
    await json('/api/editor/save', {});
    const path = '/api/editor/import?format=tarkovdata&mode=replace&publish=true&overlay=true';
    for (let round = 0; round < 2; round++) {
      await json<ImportReply>(path, COMMUNITY);
      const item = await json<WireRecord>('/api/items/aaaaaaaaaaaaaaaaaaaaaaa1');
      assert.equal(item['name'], 'Crimson card', `round ${round}`);
    }
  });

  it('C41 tells of hand edits and hand-made records that the next import leaves out', async () => {
    const native = (items: readonly object[]): object => ({
      format: 'plinth-gamedata/1',
      defaultLanguage: 'en',
      languages: ['en'],
      kinds: { items },
    });
    const kept = { id: 'kept-1', name: 'Kept', category: 'barter' };
    const gone = { id: 'gone-1', name: 'Gone', category: 'barter' };
    const path = '/api/editor/import?mode=replace&publish=true';
    await json<ImportReply>(path, native([kept, gone]));
    for (const id of ['kept-1', 'gone-1']) {
      const edit = await server.http.send(`/api/editor/items/${id}`, {
        method: 'PATCH',
        headers: HEADERS,
        body: JSON.stringify({ tags: ['by-hand'] }),
      });
      assert.equal(edit.status, 200);
    }
    await json('/api/editor/items', { id: 'made-1', name: 'Made', category: 'barter' });
    await json('/api/editor/save', {});
    const { warnings } = await json<{
      readonly warnings: { readonly sample: readonly { code: string; path: string }[] };
    }>(`${path}&overlay=true`, native([kept]));
    assert.deepEqual(
      warnings.sample.map((warning) => [warning.code, warning.path]),
      [
        ['overlay_conflict', '/items/gone-1'],
        ['overlay_conflict', '/items/made-1'],
      ],
    );
    assert.deepEqual((await json<WireRecord>('/api/items/kept-1'))['tags'], ['by-hand']);
  });

  it('C32 and C41 the history has a bound, and forgets nothing that is still needed', async () => {
    const flags = ['--services', 'gamedata', '--gamedata-keep-history', '10'];
    await using small = await ServerProcess.start({
      flags,
      env: { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
    });
    const ask = async <T = WireRecord>(path: string, method = 'GET', body?: object): Promise<T> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await small.http.send(path, { method, headers: HEADERS, ...sent });
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.text.slice(0, 200)}`);
      return JSON.parse(answer.text) as T;
    };
    const path = '/api/editor/import?format=tarkovdata&mode=replace&publish=true';
    await ask(path, 'POST', COMMUNITY);
    const first = '/api/editor/items/aaaaaaaaaaaaaaaaaaaaaaa1';
    const { quests } = await ask<{ quests: WireRecord[] }>('/api/quests');
    const quest = `/api/editor/quests/${quests[0]?.id}`;
    await ask(first, 'PATCH', { name: 'Crimson card' });
    for (let round = 0; round < 20; round += 1) {
      await ask(quest, 'PATCH', { title: `Errand ${round}` });
      if (round % 4 === 3) await ask('/api/editor/save', 'POST', {});
    }
    const { total, entries } = await ask<{ total: number; entries: { op: string }[] }>(
      '/api/editor/history?limit=1000',
    );
    // Ten, and beside them the import and the first change of either record.
    assert.equal(total, 13);
    assert.equal(entries[0]?.op, 'publish');
    assert.equal(entries.at(-1)?.op, 'import');
    for (let round = 0; round < 15; round += 1) {
      await ask(quest, 'PATCH', { title: `Open ${round}` });
    }
    const [map] = await ask<WireRecord[]>('/api/maps');
    await ask(`/api/editor/maps/${map?.id}`, 'PATCH', { wiki: null });
    await ask('/api/editor/save/maps', 'POST', {});
    // What is not published can be taken back, however much it is.
    for (let round = 0; round < 15; round += 1) await ask('/api/editor/undo', 'POST', {});
    await ask(`${path}&overlay=true`, 'POST', COMMUNITY);
    assert.equal((await ask('/api/items/aaaaaaaaaaaaaaaaaaaaaaa1'))['name'], 'Crimson card');
  });

  it('stores nothing when another node has removed what an import is about to name', {
    skip: POSTGRES_URL === undefined && 'set PLINTH_TEST_POSTGRES_URL',
  }, async () => {
    await using nodes = await gamedataNodes();
    const node = await nodes.start();
    await until(() => isOpen(node), 'the node serves');
    const before = await shownBy(node);
    // As if it were gone: nothing that is stored can be renewed.
    await nodes.database.query(`create function gone() returns trigger language plpgsql
      as $$ begin return null; end $$;
      create trigger gone before update on gamedata_objects for each row execute function gone()`);
    for (const publish of ['true', 'false']) {
      const path = `import?format=tarkovdata&mode=replace&publish=${publish}`;
      const { status, json } = await edit(node, 'POST', path, COMMUNITY);
      assert.deepEqual([status, json['code']], [409, 'conflict'], publish);
      assert.match(
        String(json['error']),
        /through another node meanwhile; nothing was stored, send it again/,
      );
    }
    assert.equal(await shownBy(node), before);
    await nodes.database.query('drop trigger gone on gamedata_objects');
    const again = await edit(
      node,
      'POST',
      'import?format=tarkovdata&mode=replace&publish=true',
      COMMUNITY,
    );
    assert.equal(again.status, 200, JSON.stringify(again.json));
  });

  it('refuses files of another shape by name, and changes nothing', async () => {
    const before = await json<WireRecord>('/api');
    const cases: [string, string][] = [
      ['{"quests.json":{}}', 'quests.json'],
      ['{"hideout.json":{"stations":1}}', 'hideout.json'],
      ['{"traders.json":[1]}', 'traders.json'],
      ['{"levels.json":{"x":{"exp":1}}}', 'levels.json'],
    ];
    for (const [body, file] of cases) {
      const path = '/api/editor/import?format=tarkovdata&publish=true';
      const answer = await server.http.send(path, { headers: HEADERS, body });
      assert.equal(answer.status, 400, body);
      assert.equal(JSON.parse(answer.text).details[0].file, file);
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
      const answer = await server.http.send('/api/editor/import?publish=true', {
        headers: HEADERS,
        body,
      });
      assert.equal(answer.status, 400, body);
    }
    assert.deepEqual(await json<WireRecord>('/api'), before);
  });
});

describe('readers and publications', () => {
  it('C6 pages of a pinned version have no gap and no repeat while versions come', async () => {
    await json('/api/editor/versions/1/restore', {});
    const { dataVersion } = await json<{ dataVersion: number }>('/api');
    const all = await json<Envelope>(`/api/items?limit=5000&version=${dataVersion}&fields=id`);
    const expected = (all.items ?? []).map(({ id }) => id);
    const seen: string[] = [];
    let next: string | null = `/api/items?limit=60&version=${dataVersion}&fields=id`;
    for (let page = 0; next !== null; page++) {
      await json('/api/editor/items', { id: `new-${page}`, name: `New ${page}` });
      const removed = await server.http.send(`/api/editor/items/${expected[page * 3]}?force=true`, {
        method: 'DELETE',
        headers: HEADERS,
      });
      assert.equal(removed.status, 200);
      await server.http.send('/api/editor/save/items', { method: 'POST', headers: HEADERS });
      const body: Envelope = await json<Envelope>(next);
      seen.push(...(body.items ?? []).map(({ id }) => id));
      next = body.next;
    }
    assert.deepEqual(seen, expected);
  });
});

describe('the command line', () => {
  it('C36 and C37 makes the same data for the same seed, larger ones with the same beginning', async () => {
    const generate = async (...args: string[]) =>
      (await runCli(['gamedata', 'generate', ...args])).stdout;
    const first = await generate('--seed', '1');
    // Golden: whoever changes the generator changes every data set made by it.
    assert.equal(createHash('sha256').update(first).digest('hex'), GOLDEN_SEED_1);
    assert.equal(
      createHash('sha256')
        .update(await generate('--seed', '2'))
        .digest('hex'),
      GOLDEN_SEED_2,
    );
    const small = JSON.parse(first) as { kinds: Record<string, WireRecord[]> };
    const large = JSON.parse(await generate('--scale', '3')) as typeof small;
    for (const kind of ['items', 'ammunition', 'quests', 'itemPresets']) {
      const own = small.kinds[kind] ?? [];
      assert.equal(large.kinds[kind]?.length, own.length * 3);
      assert.deepEqual(large.kinds[kind]?.slice(0, own.length), own, kind);
    }
    const counts = Object.values(small.kinds).map((records) => records.length);
    assert.deepEqual(Object.keys(small.kinds).sort(), [
      'ammunition',
      'hideout',
      'itemPresets',
      'items',
      'levels',
      'maps',
      'quests',
      'storyline',
      'traders',
    ]);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      784,
    );
  });

  it('C44 imports, validates, publishes, exports and restores over HTTP', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'plinth-gamedata-'));
    try {
      const run = async (...args: string[]) => {
        const connection = ['--host', server.url, '--token', TOKEN];
        const result = await runCli(['gamedata', ...args, ...connection]);
        assert.equal(result.code, 0, result.stderr);
        return result.stdout;
      };
      await mkdir(join(folder, 'data'));
      for (const [name, content] of Object.entries(COMMUNITY)) {
        await writeFile(join(folder, 'data', name), JSON.stringify(content));
      }
      const report = await run('import', folder, '--format', 'tarkovdata', '--mode', 'replace');
      assert.match(report, /items 3/);
      assert.match(report, /kept as a draft/);
      assert.equal(await run('validate'), 'the draft is valid\n');
      assert.match(
        await run('publish', '--message', 'from files'),
        /^version \d+, \d+ records changed\n$/,
      );
      const file = join(folder, 'set.json');
      await run('export', '--out', file);
      assert.match(
        await run('import', file, '--mode', 'replace', '--publish'),
        /created 0, updated 0, deleted 0/,
      );
      assert.match(await run('restore', '1'), /is the same as version 1/);
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
});

const GOLDEN_SEED_1 = '58a35d1fec03df7602b912a96ce8a567a3d7255bde27082a41167d13ff4d9d9f';
const GOLDEN_SEED_2 = '78ef6ee80bcc5bdbfa5b3e1047e1108eb69732fd2f530327f026255e0415b2b5';
