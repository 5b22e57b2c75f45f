// Source: gamedata, sections 2.7, 6.4 and 8.1: texts that cannot be served to everybody as they were sent.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ServerProcess } from '../../harness/index.js';

const TOKEN = 'editor-token-for-tests';
const HEAD = { format: 'plinth-gamedata/1', defaultLanguage: 'en', languages: ['en', 'fr'] };
/** A character of two halves is a whole one. */
const GOOD = { id: 'good', name: 'a \u{1f600} b', category: 'barter', extra: { note: 'c' } };
const BAD_TEXTS = ['\ud800', 'a\u0000', '\udc00b', 'x\ud83dy'];

let server: ServerProcess;
before(async () => {
  server = await ServerProcess.start({
    flags: ['--services', 'gamedata'],
    env: { PLINTH_GAMEDATA_ADMIN_TOKEN: TOKEN },
  });
});
after(() => server.close());

interface Told {
  readonly code: string;
  readonly details: readonly {
    readonly path: string;
    readonly code: string;
    readonly file?: string;
  }[];
}

async function edit(method: string, path: string, body?: unknown) {
  const answer = await server.http.send(`/api/editor/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: JSON.parse(answer.text) as Told & Record<string, unknown> };
}

/** Where the faults of a refused change are. */
async function faultsOf(method: string, path: string, body: unknown): Promise<readonly string[]> {
  const { status, json } = await edit(method, path, body);
  assert.equal(status, 400, `${method} ${path}: ${JSON.stringify(json).slice(0, 300)}`);
  assert.equal(json.code, 'validation_failed');
  return json.details.map((detail) => `${detail.code} ${detail.file ?? ''}${detail.path}`);
}

const counts = async (): Promise<unknown> => (await edit('GET', 'types')).json;

describe('texts with NUL or half of a character', () => {
  it('are refused where a single record has them, and change nothing', async () => {
    const made = await edit('POST', 'items', GOOD);
    assert.equal(made.status, 200, JSON.stringify(made.json));
    const before = await counts();
    for (const text of BAD_TEXTS) {
      const places: readonly (readonly [string, object])[] = [
        ['/name', { name: text }],
        ['/description', { description: text }],
        ['/tags/1', { tags: ['a', text] }],
        ['/extra/a~1b/0', { extra: { 'a/b': [text] } }],
        ['/extra', { extra: { [text]: 1 } }],
        ['/locales/fr/name', { locales: { fr: { name: text } } }],
      ];
      for (const [path, change] of places) {
        const wanted = [`invalid_text ${path}`];
        const bad = { ...GOOD, ...change };
        assert.deepEqual(await faultsOf('POST', 'items', { ...bad, id: 'bad' }), wanted);
        assert.deepEqual(await faultsOf('PUT', 'items/good', bad), wanted);
        assert.deepEqual(await faultsOf('PATCH', 'items/good', change), wanted);
      }
    }
    assert.deepEqual(await counts(), before);
    assert.equal((await edit('GET', 'items/good')).json['name'], GOOD.name);
    assert.equal((await edit('GET', 'items/bad')).status, 404);
  });

  it('are refused in the message of a version', async () => {
    for (const message of BAD_TEXTS) {
      assert.deepEqual(await faultsOf('POST', 'save', { message }), ['invalid_text /message']);
    }
  });

  it('are refused in imports, with the place in the body', async () => {
    const before = await counts();
    for (const text of BAD_TEXTS) {
      for (const query of ['dryRun=true', 'publish=true', 'mode=replace']) {
        const items = [GOOD, { ...GOOD, id: 'bad', description: text }];
        assert.deepEqual(await faultsOf('POST', `import?${query}`, { ...HEAD, kinds: { items } }), [
          'invalid_text /kinds/items/1/description',
        ]);
        const aliases = { items: { old: text } };
        assert.deepEqual(
          await faultsOf('POST', `import?${query}`, { ...HEAD, aliases, kinds: {} }),
          ['invalid_text /aliases/items/old'],
        );
      }
      const files = { 'data/items.en.json': { a1: { id: 'a1', name: text, shortName: 'a' } } };
      assert.deepEqual(await faultsOf('POST', 'import?format=tarkovdata', files), [
        'invalid_text items.en.json/a1/name',
      ]);
    }
    assert.deepEqual(await counts(), before);
  });
});

describe('what is nested', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  const send = async (path: string, body: string) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const answer = await server.http.send(`/api/editor/${path}`, { headers, body });
    return { status: answer.status, json: JSON.parse(answer.text) as Told };
  };
  const imported = (depth: number): readonly (readonly [string, string])[] => {
    const record = `{"id":"deep","name":"a","category":"barter","extra":{"x":${nested(depth - 2)}}}`;
    const head = JSON.stringify(HEAD).slice(0, -1);
    return [
      ['import?dryRun=true', `${head},"kinds":{"items":[${record}]}}`],
      ['import?dryRun=true&format=tarkovdata', `{"more.json":${nested(depth)}}`],
    ];
  };

  it('is taken in imports as deep as in single changes', async () => {
    for (const [path, body] of imported(32)) assert.equal((await send(path, body)).status, 200);
    for (const depth of [33, 50_000]) {
      for (const [path, body] of imported(depth)) {
        const { status, json } = await send(path, body);
        assert.equal(status, 400, `${path} ${depth}`);
        assert.equal(json.code, 'validation_failed');
        assert.deepEqual(
          json.details.map(({ code }) => code),
          ['too_deep'],
        );
      }
    }
  });
});

describe('languages of an import', () => {
  it('have the default one among them', async () => {
    for (const mode of ['merge', 'replace']) {
      for (const languages of [['fr'], []]) {
        assert.deepEqual(
          await faultsOf('POST', `import?mode=${mode}`, { ...HEAD, languages, kinds: {} }),
          ['wrong_shape /defaultLanguage'],
        );
      }
    }
    const { languages: _, ...alone } = HEAD;
    const taken = await edit('POST', 'import?dryRun=true', { ...alone, kinds: {} });
    assert.equal(taken.status, 200, 'whoever names no languages has the default one alone');
  });
});

describe('a slash behind a path of game data', () => {
  const answerTo = async (path: string, headers: Record<string, string>) => {
    const { status, text } = await server.http.send(path, { headers });
    return { status, text };
  };

  it('changes no answer, with and without a token', async () => {
    const paths = [
      '/api/editor/types',
      '/api/editor/export',
      '/api/editor/items',
      '/api/editor/no',
    ];
    const open = [
      '/api',
      '/api/items',
      '/api/openapi.json',
      '/api/docs',
      '/api/schemas',
      '/editor',
    ];
    for (const headers of [{}, { authorization: `Bearer ${TOKEN}` }]) {
      for (const path of [...paths, ...open]) {
        const plain = await answerTo(path, headers);
        const slashed = await answerTo(`${path}/`, headers);
        assert.equal(slashed.status, plain.status, path);
        assert.equal(slashed.text, plain.text, path);
      }
    }
    assert.equal((await answerTo('/api/editor/types/', {})).status, 200);
  });
});
