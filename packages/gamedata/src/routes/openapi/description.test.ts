// Source: gamedata, sections 2.1, 2.3 and 2.6.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TSchema } from 'typebox';
import { KINDS } from '../../model/kinds.js';
import { type Envelope, TestGameData } from '../../testing/test-game-data.js';

describe('API description', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());

  it('serves schemas that match the served records', async () => {
    const { Compile } = await import('typebox/schema');
    const { body: api } = await service.get<{ openapi: string; paths: Record<string, object> }>(
      '/api/openapi.json',
    );
    assert.equal(api.openapi, '3.1.0');
    for (const kind of KINDS) {
      assert.ok(api.paths[`/api/${kind}`] !== undefined, kind);
      const { body: schema } = await service.get<Record<string, unknown>>(`/api/schemas/${kind}`);
      assert.equal(schema['$schema'], 'https://json-schema.org/draft/2020-12/schema');
      const { $schema: _dialect, $id: _id, ...plain } = schema;
      const validator = Compile(plain);
      const { body } = await service.get<{ data: unknown[] }>(
        `/api/${kind}?envelope=page&limit=5000&lang=all`,
      );
      assert.ok(body.data.length > 0);
      for (const record of body.data) {
        assert.ok(
          validator.Check(record),
          `${kind} ${JSON.stringify(validator.Errors(record)).slice(0, 400)}`,
        );
      }
    }
    const page = await service.send('/api/docs');
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(page.text, /item-presets/);
  });

  it('lists limits and statuses', async () => {
    interface Described {
      readonly parameters?: readonly {
        readonly name: string;
        readonly schema: { readonly maximum?: number };
      }[];
      readonly responses: Readonly<Record<string, unknown>>;
    }
    const { body: api } = await service.get<{ paths: Record<string, Record<string, Described>> }>(
      '/api/openapi.json',
    );
    let limitCount = 0;
    for (const [path, { get: read }] of Object.entries(api.paths)) {
      if (read !== undefined) assert.ok('429' in read.responses, path);
      const limit = read?.parameters?.find(({ name }) => name === 'limit')?.schema.maximum;
      if (limit === undefined || path.startsWith('/api/editor')) continue;
      limitCount += 1;
      const url = `${path}?${new URLSearchParams({ q: 'dock', since: '0' })}`;
      const [most, more] = [`${url}&limit=${limit}`, `${url}&limit=${limit + 1}`];
      assert.equal((await service.send(most)).status, 200, most);
      assert.equal((await service.send(more)).status, 400, more);
    }
    assert.equal(limitCount, 13);
    const met = [
      ['/api/changes', '/api/changes?since=99', '404'],
      ['/api/bulk/{version}/{file}', '/api/bulk/latest/items.json', '302'],
      ['/api/bulk/{version}/{file}', '/api/bulk/v99/items.json', '404'],
      ['/api/versions/{n}', '/api/versions/99', '404'],
      ['/api/schemas/{kind}', '/api/schemas/nobody', '404'],
      ['/api/search', '/api/search?q=dock&version=99', '404'],
    ] as const;
    for (const [path, url, status] of met) {
      assert.equal(String((await service.send(url)).status), status, url);
      assert.ok(api.paths[path]?.['get']?.responses[status] !== undefined, `${path} ${status}`);
    }
    assert.ok(api.paths['/api/changes']?.['get']?.responses['410'] !== undefined);
    for (const path of ['versions', 'history', 'export', 'validate', 'validate/{type}']) {
      assert.ok(api.paths[`/api/editor/${path}`]?.['get'] !== undefined, path);
    }
  });

  it('matches every response to its schema', async () => {
    const { Compile } = await import('typebox/schema');
    interface Description {
      readonly paths: Record<string, { get: { responses: Record<string, Response | undefined> } }>;
      readonly components: { readonly schemas: Record<string, object> };
    }
    interface Response {
      readonly content?: { readonly 'application/json': { readonly schema: object } };
    }
    const { body: description } = await service.get<Description>('/api/openapi.json');
    const check = async (path: string, url: string, kind?: string) => {
      const response = await service.send(url);
      const schema =
        description.paths[path]?.get.responses[response.status]?.content?.['application/json']
          .schema;
      assert.ok(schema !== undefined, `${url} ${response.status} is not described`);
      const choices: readonly object[] = Reflect.get(schema, 'anyOf') ?? [schema];
      // A complete record must match the schema of complete records, not only the partial one.
      const usual = kind === undefined ? choices : choices.slice(0, kind === 'record' ? 1 : 2);
      const { components } = description;
      const fits = usual.some((choice) =>
        Compile(inline(choice, components.schemas) as TSchema).Check(JSON.parse(response.text)),
      );
      assert.ok(fits, `${url} ${response.text.slice(0, 200)}`);
    };
    for (const kind of KINDS) {
      const path = `/api/${kind}`;
      for (const query of ['', '?limit=3&lang=fr', '?lang=all', '?envelope=page&ids=a,b']) {
        await check(path, `${path}${query}`, 'list');
      }
      for (const query of ['?fields=name&limit=2', '?limit=x', '?version=99', '?lang=xx']) {
        await check(path, `${path}${query}`);
      }
      const whole = await service.get<{ data: Envelope['items'] }>(`${path}?envelope=page`);
      const id = whole.body.data?.[0]?.id;
      const one = `${path}/{${kind === 'levels' ? 'level' : 'id'}}`;
      await check(one, `${path}/${id}`, 'record');
      await check(one, `${path}/${id}?fields=name`);
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
});

/** Replaces references between schemas, because the checker has no registry. */
function inline(schema: unknown, known: Readonly<Record<string, object>>): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => inline(inner, known));
  if (typeof schema !== 'object' || schema === null) return schema;
  const target: unknown = Reflect.get(schema, '$ref');
  if (typeof target === 'string') return inline(known[target.split('/').at(-1) ?? ''], known);
  return Object.fromEntries(
    Object.entries(schema).map(([name, inner]) => [name, inline(inner, known)]),
  );
}
