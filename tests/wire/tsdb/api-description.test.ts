// Source: docs/api/tsdb.json, and tsdb-http for the served operations.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

const ROOT = new URL('../../../../', import.meta.url);

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
}

const read = async (): Promise<Description> =>
  JSON.parse(await readFile(new URL('docs/api/tsdb.json', ROOT), 'utf8')) as Description;

describe('docs/api/tsdb.json', () => {
  it('names nothing that is not served, and answers with a status that it names', async () => {
    const { openapi, paths } = await read();
    assert.equal(openapi, '3.1.0');
    await using server = await ServerInProcess.start({ flags: [] });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text) as { readonly token: string };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    // The operation that invalidates its own token runs last.
    const isLast = ({ path }: { readonly path: string }) => path.endsWith('regenerate');
    for (const { path, method, operation } of operations.toSorted(
      (a, b) => Number(isLast(a)) - Number(isLast(b)),
    )) {
      const response = await server.http.send(path, {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${token}` },
      });
      const at = `${method} ${path}: ${response.status} ${response.text}`;
      // An operation that always returns 404 is described as such.
      const isThere = Object.keys(operation.responses).some((status) => /^[2d]/.test(status));
      assert.ok(!isThere || !response.text.includes('"Not found"'), at);
      assert.ok(String(response.status) in operation.responses, at);
    }
  });
});
