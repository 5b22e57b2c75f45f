// Source: tsdb-http, "Service endpoints" (row P-01): also without the time-series service.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerInProcess } from '../../harness/index.js';

describe('a service without the others', () => {
  for (const service of ['tsdb', 'accounts', 'webhooks', 'ratelimit', 'gamedata', 'identity']) {
    it(`${service} serves health, readiness and metrics`, async () => {
      await using server = await ServerInProcess.start({
        flags: ['--without-auth', '--services', service],
      });
      for (const path of ['/health', '/api/v1/health', '/ready']) {
        const response = await server.http.send(path);
        assert.equal(response.status, 200, path);
        assert.equal(response.text, 'OK', path);
        assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8', path);
        const headers = { accept: 'application/json' };
        const inJson = await server.http.send(path, { headers });
        assert.equal(inJson.headers['content-type'], 'application/json', path);
        assert.match(inJson.text, /"status":"(?:ready|pass)"/, path);
      }
      const metrics = await server.http.send('/metrics');
      assert.equal(metrics.status, 200);
      assert.match(metrics.text, /^process_resident_memory_bytes \d/m);
    });

    it(`${service} requires a token there, unless configured otherwise`, async () => {
      await using server = await ServerInProcess.start({
        flags: ['--services', service, '--disable-authz', 'ready'],
      });
      assert.equal((await server.http.send('/health')).status, 401);
      assert.equal((await server.http.send('/ready')).status, 200);
    });
  }
});
