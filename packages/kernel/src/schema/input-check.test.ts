import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TSchema, Type } from 'typebox';
import { inputCheck } from './input-check.js';
import { RequestInvalid, type RequestPart } from './request-invalid.js';

const SCHEMA = Type.Object({
  db: Type.String({ minLength: 1 }),
  count: Type.Optional(Type.Integer({ minimum: 1, default: 4 })),
  ratio: Type.Optional(Type.Number()),
  no_sync: Type.Optional(Type.Boolean({ default: false })),
  format: Type.Optional(Type.Union([Type.Literal('json'), Type.Literal('csv')])),
  tags: Type.Optional(Type.Array(Type.Integer())),
  max_age: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
});

const run = (part: RequestPart, received: unknown, schema: TSchema = SCHEMA) => {
  try {
    return { value: inputCheck(part, schema)(received) };
  } catch (error) {
    assert.ok(error instanceof RequestInvalid);
    return { error };
  }
};

const failures = (part: RequestPart, value: unknown) => {
  const { error } = run(part, value);
  assert.ok(error instanceof RequestInvalid);
  assert.equal(error.part, part);
  return error.failures;
};

describe('inputCheck', () => {
  it('converts and defaults query strings, and keeps unknown parameters', () => {
    assert.deepEqual(
      run('querystring', { db: '12', ratio: '1e-3', no_sync: 'true', tags: '7', x: '1' }).value,
      { db: '12', count: 4, ratio: 0.001, no_sync: true, tags: [7], x: '1' },
    );
    assert.deepEqual(run('querystring', { db: 'a', tags: ['1', '2'], max_age: '9' }).value, {
      db: 'a',
      count: 4,
      no_sync: false,
      tags: [1, 2],
      max_age: 9,
    });
  });

  it('does not convert text that only resembles a number or boolean', () => {
    for (const count of ['', ' 1', '1.0', '0x10', '1e2', '12345678901234567890', 'NaN']) {
      const [failure] = failures('querystring', { db: 'a', count });
      assert.deepEqual(failure, {
        path: ['count'],
        keyword: 'type',
        expected: ['integer'],
        received: count,
      });
    }
    assert.equal(failures('querystring', { db: 'a', no_sync: 'True' })[0]?.keyword, 'type');
  });

  it('converts in a copy', () => {
    const headers = { db: 'a', count: '3' };
    assert.deepEqual(run('headers', headers).value, { db: 'a', count: 3, no_sync: false });
    assert.deepEqual(headers, { db: 'a', count: '3' });
  });

  it('neither coerces nor strips nor defaults bodies', () => {
    const body = { db: 'a', extra: { deep: 1 } };
    assert.equal(run('body', body).value, body);
    assert.deepEqual(body, { db: 'a', extra: { deep: 1 } });
    assert.deepEqual(failures('body', { db: 'a', count: '3' }), [
      { path: ['count'], keyword: 'type', expected: ['integer'], received: '3' },
    ]);
  });

  it('names each missing field, the limit, the allowed values and the types of a union', () => {
    assert.deepEqual(failures('body', {}), [
      { path: ['db'], keyword: 'required', expected: [], received: undefined },
    ]);
    assert.deepEqual(
      failures('body', { db: '', count: 0, format: 'xml', tags: [1, 'b'], max_age: 'x' }),
      [
        { path: ['db'], keyword: 'minLength', expected: ['1'], received: '' },
        { path: ['count'], keyword: 'minimum', expected: ['1'], received: 0 },
        { path: ['format'], keyword: 'enum', expected: ['json', 'csv'], received: 'xml' },
        { path: ['tags', '1'], keyword: 'type', expected: ['integer'], received: 'b' },
        { path: ['max_age'], keyword: 'type', expected: ['integer', 'null'], received: 'x' },
      ],
    );
    assert.deepEqual(failures('body', null), [
      { path: [], keyword: 'type', expected: ['object'], received: null },
    ]);
  });

  it('reports every failure, including those in nullable values and list entries', () => {
    const rarity = Type.Union(['common', 'rare', 'epic'].map((word) => Type.Literal(word)));
    const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()]);
    const schema = Type.Object({
      rarity: nullable(rarity),
      note: nullable(Type.String({ maxLength: 3 })),
      at: nullable(Type.Object({ x: Type.Integer() }, { additionalProperties: false })),
      list: Type.Array(Type.Object({ size: nullable(Type.Integer()), kind: rarity })),
    });
    const list = [
      { size: 'a', kind: 'big' },
      { size: 'b', kind: 'small' },
    ];
    const body = { rarity: 'odd', note: 'long', at: { x: '1', y: 2 }, list };
    const { error } = run('body', body, schema);
    assert.ok(error);
    const found = error.failures.map(
      ({ path, keyword, expected }) => `/${path.join('/')} ${keyword} ${expected.join(',')}`,
    );
    assert.deepEqual(found.sort(), [
      '/at/x type integer',
      '/at/y additionalProperties ',
      '/list/0/kind enum common,rare,epic',
      '/list/0/size type integer,null',
      '/list/1/kind enum common,rare,epic',
      '/list/1/size type integer,null',
      '/note maxLength 3',
      '/rarity enum common,rare,epic,null',
    ]);
  });

  it('accepts fields named like prototype properties', () => {
    assert.deepEqual(failures('body', JSON.parse('{"__proto__":{"db":"a"}}'))[0]?.path, ['db']);
  });
});
