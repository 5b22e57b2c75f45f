// Source: every API's section on malformed bodies; deeply nested JSON is refused before it is parsed.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SharedServer } from '../../harness/index.js';

let server: SharedServer;
before(async () => {
  server = await SharedServer.get();
});
after(async () => {
  await server.close();
});

/** JSON in an unknown or ignored member; only its depth is invalid. */
const nested = (depth: number): string => `{"extra":${'['.repeat(depth)}${']'.repeat(depth)}}`;

describe('a query with too many parameters', () => {
  const count = 20_001;
  const params = Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, i]));
  for (const [path, contentType, body] of [
    ['/api/v3/query_sql', 'application/json', { db: 'x', q: 'SELECT $p1', params }],
    ['/api/v3/query_influxql', 'application/json', { db: 'x', q: 'SHOW TABLES', params }],
    ['/query', 'application/json', { db: 'x', q: 'SHOW DATABASES', params }],
    [
      '/query',
      'application/x-www-form-urlencoded',
      { q: 'SHOW DATABASES', params: JSON.stringify(params) },
    ],
  ] as const)
    it(`is refused by ${path}, ${contentType}`, async () => {
      const isForm = contentType.includes('form');
      const response = await server.http.send(path, {
        headers: { 'content-type': contentType },
        body: isForm
          ? new URLSearchParams(body as Record<string, string>).toString()
          : JSON.stringify(body),
      });
      assert.equal(response.status, 400, response.text);
      assert.match(response.text, /more than 20000 members and items/);
    });
});

describe('a body that is nested too deeply', () => {
  for (const [path, status, text] of [
    ['/api/v3/query_sql', 400, 'recursion limit exceeded'],
    ['/query?db=x', 400, 'recursion limit exceeded'],
    ['/api/v3/configure/database', 400, 'recursion limit exceeded'],
    ['/api/v2/delete?bucket=x', 400, 'nested deeper than 127 levels'],
    ['/ops/v1/apps', 400, 'Problems parsing JSON'],
    ['/ops/v1/events', 400, 'Problems parsing JSON'],
    ['/ops/v1/rate-limits/check', 400, 'Problems parsing JSON'],
    ['/ops/v1/rate-limits/check-batch', 400, 'Problems parsing JSON'],
  ] as const) {
    it(`is refused by ${path}`, async () => {
      const send = async (body: string) =>
        await server.http.send(path, { body, headers: { 'content-type': 'application/json' } });
      for (const body of [nested(127), nested(100_000), '['.repeat(60_000)]) {
        const response = await send(body);
        assert.equal(response.status, status, response.text);
        assert.ok(response.text.includes(text), response.text);
      }
      // At the maximum depth it is refused for another reason.
      const response = await send(nested(126));
      assert.ok(!response.text.includes(text), response.text);
    });
  }
});
