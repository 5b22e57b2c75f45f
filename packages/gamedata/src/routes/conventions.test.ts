// Source: gamedata, sections 2.1 and 2.12.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { EDITOR, TestGameData } from '../testing/test-game-data.js';

describe('game data conventions', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());

  it('lets web pages of any origin read, and none edit', async () => {
    const origin = 'https://fan.example';
    for (const path of ['/api/items', '/api/items/nobody', '/api/nothing', '/api/items?limit=x']) {
      const { headers } = await service.send(path, { headers: { origin } });
      assert.equal(headers['access-control-allow-origin'], '*', path);
      assert.equal(headers['access-control-allow-credentials'], undefined);
      assert.match(String(headers['access-control-expose-headers']), /ETag.*x-ratelimit-reset/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['cross-origin-resource-policy'], 'cross-origin');
    }
    const asked = {
      origin,
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'if-none-match, x-anything',
    };
    const preflight = await service.send('/api/items', { method: 'OPTIONS', headers: asked });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers['access-control-allow-methods'], 'GET, HEAD, OPTIONS');
    assert.equal(preflight.headers['access-control-allow-headers'], 'if-none-match, x-anything');
    assert.equal(preflight.headers['access-control-max-age'], '86400');
    const editor = await service.send('/api/editor/items', {
      method: 'OPTIONS',
      headers: asked,
    });
    assert.equal(editor.headers['access-control-allow-origin'], undefined);
  });

  it('returns the same response with a trailing slash', async () => {
    for (const path of ['/api/items', '/api/traders', '/api/levels/3', '/api/search']) {
      const [plain, slashed] = await Promise.all(
        [path, `${path}/`].map((url) => service.send(`${url}?q=river`)),
      );
      assert.equal(slashed?.text, plain?.text, path);
      assert.equal(slashed?.headers['etag'], plain?.headers['etag'], path);
    }
  });

  const responseTo = async (path: string, headers: Record<string, string>) => {
    const { status, text } = await service.send(path, { headers });
    return { status, text };
  };

  it('ignores a trailing slash, with and without a token', async () => {
    const paths = [
      '/api',
      '/api/items',
      '/api/openapi.json',
      '/api/docs',
      '/api/schemas',
      '/editor',
    ];
    paths.push(...['types', 'export', 'items', 'no'].map((path) => `/api/editor/${path}`));
    for (const headers of [{}, { authorization: EDITOR.authorization }]) {
      for (const path of paths) {
        const plain = await responseTo(path, headers);
        const slashed = await responseTo(`${path}/`, headers);
        assert.equal(slashed.status, plain.status, path);
        assert.equal(slashed.text, plain.text, path);
      }
    }
    assert.equal((await responseTo('/api/editor/types/', {})).status, 200);
  });
});
