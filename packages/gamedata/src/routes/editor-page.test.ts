// Source: gamedata, section 6.6.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TestGameData } from '../testing/test-game-data.js';

describe('editor page', () => {
  let service: TestGameData;
  before(async () => {
    service = await TestGameData.start();
  });
  after(() => service[Symbol.asyncDispose]());

  it('is served without a token, runs only its own script, and calls existing routes', async () => {
    const page = await service.send('/editor/');
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal((await service.send('/editor')).text, page.text);
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(page.headers['access-control-allow-origin'], undefined);
    // The page has no inline code that the policy would block, and no external resources.
    assert.doesNotMatch(page.text, /<style|<script>|\son\w+=|https?:/);
    const named = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) =>
      String(path),
    );
    assert.deepEqual(named, ['/editor/editor.css', '/editor/editor.js']);
    const [style, script] = await Promise.all(named.map((path) => service.send(path)));
    assert.equal(style?.headers['content-type'], 'text/css; charset=utf-8');
    assert.equal(script?.headers['content-type'], 'text/javascript; charset=utf-8');
    // The page contains every element that the script looks up.
    const ids = new Set([...page.text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
    for (const [, id] of (script?.text ?? '').matchAll(/find\('([^']+)'\)/g)) {
      assert.ok(ids.has(id), `${id} is not in the page`);
    }
    assert.equal((await service.send('/editor/other.js')).status, 404);
    assert.equal((await service.send('/editor/', { method: 'POST' })).status, 405);
  });
});
