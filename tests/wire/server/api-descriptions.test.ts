// Source: docs/api/, and docs/adr/0090-one-request-pipeline.md: descriptions are generated from the route tables.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ServerInProcess } from '../../harness/index.js';

const ROOT = new URL('../../../../', import.meta.url);
const FOLDER = new URL('docs/api/', ROOT);

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}
interface Operation {
  readonly summary?: string;
  readonly operationId?: string;
  readonly responses: Readonly<Record<string, unknown>>;
}
interface Listed {
  readonly method: string;
  readonly path: string;
}

const pathsOf = (routes: readonly string[]): readonly string[] =>
  [
    ...new Set(
      routes.map((route) => {
        const [method = '', path = ''] = route.split(' ');
        return `${method} ${comparable(path)}`;
      }),
    ),
  ].sort();

async function descriptions(): Promise<readonly (readonly [string, Description])[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.json'));
  return await Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, FOLDER), 'utf8');
      return [name, JSON.parse(text) as Description] as const;
    }),
  );
}

/**
 * Ignores the names of parameters, including `*`. Some routes exist with and without a prefix and are described once: webhook
 * routes (the platform API) and accounts routes (for operators, docs/adr/0174-operators-act-as-a-platform.md).
 */
const comparable = (path: string): string =>
  path
    .replace(/^\/ops\/v1\/as\/platform\/[^/]+\/[^/]+/, '')
    .replace(/^\/api\/v3(?=\/(?:app|meta|versions|rate_limit)(?:\/|$))/, '')
    .replace(/\{[^}]*\}|:\w+|\*$/g, '{}');

describe('docs/api', () => {
  it('matches the route tables', async () => {
    const script = fileURLToPath(new URL('scripts/openapi.mjs', ROOT));
    await promisify(execFile)(process.execPath, [script, '--check']);
  });

  it('describes every route that the server lists and nothing else, each path once', async () => {
    await using server = await ServerInProcess.start({ flags: [] });
    const made = await server.http.send('/api/v3/configure/token/admin', { method: 'POST' });
    const { token } = JSON.parse(made.text) as { readonly token: string };
    const response = await server.http.send('/ops/v1/routes', {
      headers: { authorization: `Bearer ${token}` },
    });
    const routes = JSON.parse(response.text) as readonly Listed[];
    const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    const listed = routes
      // HEAD exists for each GET, and a trailing slash is an alias of the same path.
      .filter(({ method }) => method !== 'HEAD')
      .filter(
        ({ method, path }) => !(path.endsWith('/') && known.has(`${method} ${path.slice(0, -1)}`)),
      )
      .map(({ method, path }) => `${method} ${path}`);
    const described = (await descriptions()).flatMap(([, { paths }]) =>
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      ),
    );
    assert.ok(listed.length > 100);
    assert.equal(new Set(described).size, described.length);
    assert.deepEqual(pathsOf(described), pathsOf(listed));
  });

  it('describes the purpose and responses of each operation, with a unique id', async () => {
    for (const [name, { paths }] of await descriptions()) {
      const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
      for (const { summary, responses } of operations) {
        assert.ok(summary !== undefined && summary !== '', name);
        assert.ok(Object.keys(responses).length > 0, `${name} ${summary}`);
      }
      const ids = operations.flatMap(({ operationId }) => operationId ?? []);
      assert.equal(new Set(ids).size, ids.length, name);
    }
  });

  it('has no broken references', async () => {
    for (const [name, description] of await descriptions()) {
      const pointers = [...JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/g)];
      assert.ok(pointers.length > 0, name);
      for (const [, pointer = ''] of pointers) {
        let found: unknown = description;
        for (const step of pointer.split('/')) found = Reflect.get(Object(found), step);
        assert.ok(found !== undefined, `${name} ${pointer}`);
      }
    }
  });
});
