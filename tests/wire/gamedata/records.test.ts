// Source: gamedata, sections 2.2, 2.8, 2.12, 3.7, 3.8, 5, 6.4 and 7.1.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TSchema } from 'typebox';
import { ServerProcess, WebhookApp, WebhookReceiver } from '../../harness/index.js';
import { getJson, type WireRecord } from './game-client.js';

const TOKEN = 'editor-token-for-tests';
const EDITOR = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const ENV = { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN };
const KINDS = [
  'items',
  'ammunition',
  'traders',
  'quests',
  'maps',
  'hideout',
  'item-presets',
  'levels',
  'storyline',
];

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({ flags: ['--services', 'gamedata'], env: ENV });
});
after(() => server.close());

const get = async <T>(path: string): Promise<T> => (await getJson<T>(server, path)).body;

/** All records of a kind, by id. */
async function all(kind: string): Promise<Map<string, WireRecord>> {
  const { data } = await get<{ data: WireRecord[] }>(`/api/${kind}?envelope=page&limit=5000`);
  return new Map(data.map((record) => [record.id, record]));
}

const member = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => Reflect.get(Object(inner ?? {}), name), value);

const numberAt = (value: unknown, ...path: readonly string[]): number | null => {
  const found = member(value, ...path);
  return typeof found === 'number' ? found : null;
};

const edit = async (
  method: string,
  path: string,
  body?: string | object,
  headers: Record<string, string> = {},
) => {
  const answer = await server.http.send(`/api/editor/${path}`, {
    method,
    headers: { ...EDITOR, ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { ...answer, json: JSON.parse(answer.text) as WireRecord };
};

describe('computed members', () => {
  it('C24 the numbers of a preset follow from its base, mods and parts', async () => {
    const [items, ammunition, presets] = await Promise.all([
      all('items'),
      all('ammunition'),
      all('item-presets'),
    ]);
    const sum = (numbers: readonly (number | null)[]): number | null =>
      numbers.reduce<number | null>(
        (total, number) => (total === null || number === null ? null : total + number),
        0,
      );
    const clamp = (number: number) => Math.min(100, Math.max(0, number));
    for (const preset of presets.values()) {
      const base = member(items.get(String(preset['baseId'])), 'properties', 'weapon');
      const mods = (preset['mods'] as { item: string }[]).map(({ item }) =>
        member(items.get(item), 'properties', 'mod'),
      );
      const percent = (name: string) =>
        1 + (sum(mods.map((mod) => numberAt(mod, name))) ?? Number.NaN) / 100;
      const parts = preset['parts'] as { id: string; quantity: number }[];
      const weight = sum(
        parts.map(
          ({ id, quantity }) => (numberAt(items.get(id), 'weight') ?? Number.NaN) * quantity,
        ),
      );
      const round = ammunition.get(String(member(base, 'defaultAmmoId')));
      const expected = {
        ergonomics: clamp(
          sum([numberAt(base, 'ergonomics'), ...mods.map((mod) => numberAt(mod, 'ergonomics'))]) ??
            -1,
        ),
        recoil: Math.round((numberAt(base, 'recoil') ?? -1) * percent('recoilPercent')),
        accuracy: clamp(
          Math.round((numberAt(base, 'accuracy') ?? -1) * percent('accuracyPercent')),
        ),
        weight: Math.round((weight ?? -1) * 1000) / 1000,
        fireRate: numberAt(base, 'fireRate'),
        damagePerShot:
          (numberAt(round, 'ballistics', 'damage') ?? -1) *
          (numberAt(round, 'projectileCount') ?? -1),
      };
      const served = Object.fromEntries(Object.keys(expected).map((name) => [name, preset[name]]));
      assert.deepEqual(served, expected, preset.id);
    }
    assert.ok(presets.size >= 60);
  });

  it('C24 the numbers follow a change of a part, and are null where an input is unknown', async () => {
    const [preset] = (await all('item-presets')).values();
    assert.ok(preset !== undefined);
    const id = String((preset['mods'] as { item: string }[])[0]?.item);
    const before = await get<WireRecord>(`/api/items/${id}`);
    const mod = member(before, 'properties', 'mod');
    const ergonomics = (numberAt(mod, 'ergonomics') ?? 0) - 3;
    await edit('PATCH', `items/${id}`, { properties: { mod: { ergonomics } }, weight: null });
    assert.equal((await edit('POST', 'save')).status, 200);
    const after = await get<WireRecord>(`/api/item-presets/${preset.id}`);
    assert.equal(after['ergonomics'], Number(preset['ergonomics']) - 3);
    assert.equal(after['weight'], null);
    assert.equal((await edit('POST', 'versions/1/restore')).status, 200);
    assert.deepEqual(await get(`/api/item-presets/${preset.id}`), preset);
  });

  it('C25 the experience of a level is all that is needed to reach it', async () => {
    const levels = [...(await all('levels')).values()];
    let total = 0;
    for (const [index, level] of levels.entries()) {
      assert.deepEqual(
        [level['level'], level['exp'], level['totalExp']],
        [index + 1, total, total],
      );
      total += Number(level['expToNextLevel']);
    }
    assert.equal(levels.at(-1)?.['expToNextLevel'], 0);
    assert.equal(levels.length, 60);
  });
});

describe('what is served', () => {
  it('C22 every answer has the schema that the description gives it', async () => {
    const { Compile } = await import('typebox/schema');
    interface Description {
      readonly paths: Record<string, { get: { responses: Record<string, Response | undefined> } }>;
      readonly components: { readonly schemas: Record<string, object> };
    }
    interface Response {
      readonly content?: { readonly 'application/json': { readonly schema: object } };
    }
    const description = await get<Description>('/api/openapi.json');
    const check = async (path: string, url: string, kind?: string) => {
      const answer = await server.http.send(url);
      const schema =
        description.paths[path]?.get.responses[answer.status]?.content?.['application/json'].schema;
      assert.ok(schema !== undefined, `${url} ${answer.status} is not described`);
      const choices: readonly object[] = Reflect.get(schema, 'anyOf') ?? [schema];
      // Whole records must have the schema of whole records, not only that of parts.
      const usual = kind === undefined ? choices : choices.slice(0, kind === 'record' ? 1 : 2);
      const { components } = description;
      const fits = usual.some((choice) =>
        Compile(inline(choice, components.schemas) as TSchema).Check(JSON.parse(answer.text)),
      );
      assert.ok(fits, `${url} ${answer.text.slice(0, 200)}`);
    };
    for (const kind of KINDS) {
      const path = `/api/${kind}`;
      for (const query of ['', '?limit=3&lang=fr', '?lang=all', '?envelope=page&ids=a,b']) {
        await check(path, `${path}${query}`, 'list');
      }
      for (const query of ['?fields=name&limit=2', '?limit=x', '?version=99', '?lang=xx']) {
        await check(path, `${path}${query}`);
      }
      const [first] = await all(kind);
      const one = `${path}/{${kind === 'levels' ? 'level' : 'id'}}`;
      await check(one, `${path}/${first?.[0]}`, 'record');
      await check(one, `${path}/${first?.[0]}?fields=name`);
      await check(one, `${path}/nobody`);
    }
    await check('/api/items', '/api/items?envelope=page&include=traders,presets', 'list');
    await check('/api/search', '/api/search?q=river');
    await check('/api/suggest', '/api/suggest?q=o');
    await check('/api/changes', '/api/changes');
    for (const path of ['/api/ammunition/calibers/list', '/api/items/categories/list']) {
      for (const query of ['', '?version=99', '?lang=xx']) await check(path, `${path}${query}`);
    }
  });

  it('C14 ids in q are equal or not, text holds a part', async () => {
    const [[id = ''] = []] = await all('items');
    const total = async (q: string) =>
      (await get<{ total: number }>(`/api/items?q=${encodeURIComponent(q)}`)).total;
    assert.equal(await total(`id:${id}`), 1);
    assert.equal(await total(`id:${id.slice(0, 4)}`), 0);
    assert.equal(await total(`id!=${id}`), 419);
  });

  it('C10 one slash at the end gives the same reply', async () => {
    for (const path of ['/api/items', '/api/traders', '/api/levels/3', '/api/search']) {
      const [plain, slashed] = await Promise.all(
        [path, `${path}/`].map((url) => server.http.send(`${url}?q=river`)),
      );
      assert.equal(slashed?.text, plain?.text, path);
      assert.equal(slashed?.headers['etag'], plain?.headers['etag'], path);
    }
  });

  it('C36 names nothing of the game that others have', async () => {
    const normal = (text: string) =>
      text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/g, ' ').trim();
    const texts: string[] = [];
    for (const kind of KINDS) {
      for (const [, record] of await all(kind)) {
        for (const name of ['name', 'shortName', 'fullName', 'title', 'caliber']) {
          if (typeof record[name] === 'string') texts.push(normal(record[name]));
        }
      }
      const whole = normal((await server.http.send(`/api/bulk/v1/${kind}.json`)).text);
      for (const word of UNMISTAKABLE) assert.ok(!whole.includes(word), `${kind} names ${word}`);
    }
    const own = new Set(texts);
    for (const name of [...UNMISTAKABLE, ...COMMON_NAMES]) assert.ok(!own.has(name), name);
    assert.ok(own.size > 700);
  });

  it('C21 whoever guesses editor tokens is slowed down, in words that pages can read; a right one never is', async () => {
    const origin = 'https://edit.example';
    await using guarded = await ServerProcess.start({
      flags: ['--services', 'gamedata,ratelimit', '--gamedata-editor-origins', origin],
      env: { PLINTH_GAMEDATA_ADMIN_TOKEN: 'the-right-token-of-an-editor' },
    });
    const guess = (path: string, token: string) =>
      guarded.http.send(path, { headers: { authorization: `Bearer ${token}`, origin } });
    const statuses = new Set<number>();
    for (let count = 0; count < 70; count += 1) {
      const answer = await guess('/api/editor/items', `no-${count}`);
      statuses.add(answer.status);
      assert.equal(answer.headers['access-control-allow-origin'], origin);
      assert.equal(answer.headers['cache-control'], 'no-store');
      if (count % 20 !== 19) continue;
      const right = await guess('/api/editor/items', 'the-right-token-of-an-editor');
      assert.equal(right.status, 200, `after ${count + 1} guesses: ${right.text}`);
    }
    // Unauthorized; ten a minute; fifty in ten minutes.
    assert.deepEqual([...statuses], [401, 429, 403]);
    assert.equal((await guess('/api/items', 'none-either')).status, 200, 'nobody is asked there');
  });

  it('C46 the resource of the limiter is in the headers, and scripts may read them', async () => {
    const limit = { limit: 5, anonymous_limit: 3, window: 60 };
    await using limited = await ServerProcess.start({
      flags: [
        '--services',
        'gamedata,ratelimit',
        '--rate-limit-services',
        JSON.stringify({ gamedata: { enabled: true } }),
        '--rate-limit-resources',
        JSON.stringify({ gamedata: limit }),
      ],
      env: ENV,
    });
    const first = await limited.http.send('/api/maps', {
      headers: { origin: 'https://fan.example' },
    });
    assert.equal(first.headers['x-ratelimit-resource'], 'gamedata');
    assert.equal(first.headers['x-ratelimit-remaining'], '2');
    await limited.http.send('/api/maps/nobody');
    await limited.http.send('/api/maps?limit=x');
    const refused = await limited.http.send('/api/maps');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers['x-ratelimit-remaining'], '0');
    const waitSec = Number(refused.headers['retry-after']);
    assert.ok(waitSec >= 1 && waitSec <= 60, String(waitSec));
    const told = JSON.parse(refused.text) as Record<string, unknown>;
    assert.equal(Object.keys(told)[0], 'error');
    assert.equal(told['error'], told['message']);
    assert.equal(told['code'], 'rate_limited');
    const { paths } = await get<{ paths: Record<string, { get?: { responses: object } }> }>(
      '/api/openapi.json',
    );
    for (const [path, { get: read }] of Object.entries(paths)) {
      if (read !== undefined) assert.ok('429' in read.responses, path);
    }
    for (const { headers } of [first, refused]) {
      assert.equal(headers['access-control-allow-origin'], '*');
      const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(', ');
      for (const name of ['limit', 'remaining', 'used', 'reset', 'resource']) {
        assert.ok(exposed.includes(`x-ratelimit-${name}`), name);
      }
      assert.ok(exposed.includes('retry-after'));
    }
    // Whoever reads behind an address uses up nothing of its editors.
    const edited = await limited.http.send('/api/editor/versions', { headers: EDITOR });
    assert.equal(edited.status, 200, edited.text);
    assert.equal(edited.headers['x-ratelimit-remaining'], '4');
    const guessed = await limited.http.send('/api/editor/versions', {
      headers: { authorization: 'Bearer wrong' },
    });
    assert.notEqual(guessed.status, 200);
    // Nothing is limited unless the operator says so.
    assert.equal((await server.http.send('/api/maps')).headers['x-ratelimit-limit'], undefined);
  });
});

/** Schemas name each other; a checker without a registry wants them in place. */
function inline(schema: unknown, known: Readonly<Record<string, object>>): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => inline(inner, known));
  if (typeof schema !== 'object' || schema === null) return schema;
  const target: unknown = Reflect.get(schema, '$ref');
  if (typeof target === 'string') return inline(known[target.split('/').at(-1) ?? ''], known);
  return Object.fromEntries(
    Object.entries(schema).map(([name, inner]) => [name, inline(inner, known)]),
  );
}

/** Nobody would come upon these by chance. */
const UNMISTAKABLE = [
  'tarkov',
  'battlestate',
  'prapor',
  'jaeger',
  'reshala',
  'killa',
  'tagilla',
  'shturman',
  'glukhar',
  'sanitar',
  'zryachiy',
  'kaban',
  'salewa',
  'ledx',
  'kalashnikov',
  'makarov',
  'norvinsk',
  'terragroup',
  'caliber545x39',
  'caliber762x39',
  'caliber556x45',
];
/** Common words that are names there. */
const COMMON_NAMES = [
  'therapist',
  'fence',
  'skier',
  'peacekeeper',
  'mechanic',
  'ragman',
  'lightkeeper',
  'ref',
  'factory',
  'customs',
  'woods',
  'shoreline',
  'interchange',
  'reserve',
  'lighthouse',
  'ground zero',
  'the lab',
  'streets',
  'nutrition unit',
  'bitcoin farm',
  'scav case',
  'booze generator',
  'intelligence center',
  'air filtering unit',
  'gp coin',
  'physical bitcoin',
  'roubles',
  'graphics card',
  'debut',
  'shortage',
  'delivery from the past',
];

describe('the editor', () => {
  it('C22 names every fault, with the members that may be null among them', async () => {
    const body = {
      id: 'faulty',
      name: 'x'.repeat(201),
      shortName: 'y'.repeat(65),
      rarity: 'odd',
      category: 'ship',
      weight: -1,
      handbook: { parent: null, price: -1 },
      colour: 'red',
    };
    const { status, json } = await edit('POST', 'items', body);
    assert.deepEqual([status, json['code']], [400, 'validation_failed']);
    const paths = (json['details'] as { path: string }[]).map(({ path }) => path).sort();
    const expected = [
      '/category',
      '/colour',
      '/handbook/price',
      '/name',
      '/rarity',
      '/shortName',
      '/weight',
    ];
    assert.deepEqual(paths, expected);
  });

  it('C22 refuses a member __proto__ as any other that it does not know', async () => {
    const text = '{"id":"proto","name":"x","handbook":{"__proto__":{"price":1}}}';
    const { status, json } = await edit('POST', 'items', text);
    assert.equal(status, 400);
    assert.deepEqual(json['details'], [
      {
        path: '/handbook/__proto__',
        code: 'unknown_member',
        message: 'unknown member __proto__',
      },
    ]);
  });

  it('C33 the same reply to the same Idempotency-Key has the same headers', async () => {
    const key = { 'idempotency-key': 'same-headers' };
    const make = () => edit('POST', 'items', { id: 'same-headers', name: 'Once' }, key);
    const [first, second] = [await make(), await make()];
    assert.equal(second.text, first.text);
    for (const name of ['etag', 'location']) {
      assert.match(String(first.headers[name]), /^["/]/);
      assert.equal(second.headers[name], first.headers[name], name);
    }
  });
});

describe('C45 the page for people', () => {
  it('comes without a token, runs only its own script, and asks the same routes', async () => {
    const page = await server.http.send('/editor/');
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal((await server.http.send('/editor')).text, page.text);
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(page.headers['access-control-allow-origin'], undefined);
    // Nothing in the page itself that the policy would keep from running, and nothing from elsewhere.
    assert.doesNotMatch(page.text, /<style|<script>|\son\w+=|https?:/);
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) =>
      String(path),
    );
    assert.deepEqual(named, ['/editor/editor.css', '/editor/editor.js']);
    const [style, script] = await Promise.all(named.map((path) => server.http.send(path)));
    assert.equal(style?.headers['content-type'], 'text/css; charset=utf-8');
    assert.equal(script?.headers['content-type'], 'text/javascript; charset=utf-8');
    // Every element that the script looks for is in the page.
    const ids = new Set([...page.text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
    for (const [, id] of (script?.text ?? '').matchAll(/find\('([^']+)'\)/g)) {
      assert.ok(ids.has(id), `${id} is not in the page`);
    }
    assert.equal((await server.http.send('/editor/other.js')).status, 404);
    assert.equal((await server.http.send('/editor/', { method: 'POST' })).status, 405);
  });
});

describe('C29 the webhook', () => {
  it('is told of each publication once, also after a kill, and of no draft', async () => {
    await using receiver = await WebhookReceiver.start();
    const options = {
      flags: [
        '--services',
        'gamedata,webhooks',
        '--without-auth',
        '--webhooks-allow-private-targets=127.0.0.0/8',
      ],
      env: ENV,
    };
    const first = await ServerProcess.start(options);
    await WebhookApp.register(first, { url: receiver.url, events: ['game_data'] });
    const send = async (to: ServerProcess, path: string, body: object = {}) => {
      const answer = await to.http.send(`/api/editor/${path}`, {
        headers: EDITOR,
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 200, answer.text);
      return JSON.parse(answer.text) as { version: number };
    };
    await send(first, 'items', { id: 'told', name: 'Told' });
    const { version } = await send(first, 'save', { message: 'for the hook' });
    const nothing = await send(first, 'save');
    assert.equal(nothing.version, version);
    // What was acknowledged is told, even if the process dies before it could.
    await first.kill();
    const second = await ServerProcess.start({ ...options, dataDir: first.dataDir });
    try {
      const restored = await send(second, 'versions/1/restore');
      const told = () =>
        receiver.deliveries
          .filter(({ headers }) => headers['x-vendor-event'] === 'game_data')
          .map(({ body }) => JSON.parse(body));
      const isTold = (number: number) =>
        told().some((payload) => payload.version.number === number);
      for (let left = 400; left > 0 && !(isTold(version) && isTold(restored.version)); left--) {
        await sleep(50);
      }
      const byVersion = new Map(told().map((payload) => [payload.version.number, payload]));
      // The sample data set may have been told, too, if it was published after the app came.
      const numbers = [...byVersion.keys()].filter((number) => number > 1);
      assert.deepEqual(numbers.sort(), [version, restored.version]);
      const published = byVersion.get(version);
      assert.equal(published.action, 'published');
      assert.equal(published.service, 'game-data');
      assert.deepEqual(
        [published.version.previous, published.version.message, published.version.counts.items],
        [version - 1, 'for the hook', 421],
      );
      assert.match(published.version.publishedAt, /^\d{4}-\d\d-\d\dT/);
      assert.deepEqual(published.changes, {
        total: 1,
        truncated: false,
        records: [{ kind: 'items', id: 'told', op: 'created' }],
      });
      assert.equal(byVersion.get(restored.version).action, 'restored');
    } finally {
      await second.close();
      await first.close();
    }
  });
});
