// Source: docs/DURABILITY.md, "Commit log": a failed sync fails the request and takes the node read-only.
// Own process: the size of its files is limited.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertError, query, ServerInProcess, ServerProcess } from '../harness/index.js';

/** Limits files to 4 MiB: the log reaches that first. The shell counts in KiB. */
const LIMITS = 'ulimit -f 4096';
const SKIP = process.platform === 'win32' ? 'needs a shell that limits the size of files' : false;

describe('A log that cannot grow', { skip: SKIP }, () => {
  let dataDir: string;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'plinth-full-'));
  });
  after(async () => await rm(dataDir, { recursive: true, force: true }));

  it('fails writes with a reason, loses no acknowledged data and does not affect queries', async () => {
    let acknowledged = 0;
    const server = await ServerProcess.start({
      dataDir,
      flags: ['--without-auth'],
      limits: LIMITS,
    });
    try {
      const text = 'x'.repeat(50_000);
      for (let n = 1; n < 1000; n++) {
        const body = `m v=${n}i,s="${text}" ${n}`;
        const response = await server.http.send('/api/v3/write_lp?db=d&precision=s', { body });
        if (response.status !== 204) {
          const why =
            'the write-ahead log could not be written; the node is read-only until it is restarted';
          assertError(response, 503, why);
          break;
        }
        acknowledged = n;
      }
      assert.ok(acknowledged > 10 && acknowledged < 100, `${acknowledged} writes were taken`);
      const logged = server.logged('write refused');
      assert.equal(logged?.['level'], 'error');
      assert.match(JSON.stringify(logged), /EFBIG|ENOSPC|file too large|no space/i);
      const q = `SELECT count(*) AS c FROM m WHERE v <= ${acknowledged}`;
      assert.equal(
        (await query(server, { db: 'd', q, format: 'csv' })).trim(),
        `c\n${acknowledged}`,
      );
      const why =
        'not ready: the write-ahead log could not be written; the node is read-only until it is restarted';
      assertError(await server.http.send('/health'), 503, why);
      assertError(await server.http.send('/ready'), 503, why);
    } finally {
      assert.equal(await server.stop(), 0);
    }

    const again = await ServerInProcess.start({ dataDir });
    try {
      const q = 'SELECT count(*) AS c, max(v) AS m FROM m';
      const response = await query(again, { db: 'd', q, format: 'csv' });
      assert.equal(response.trim(), `c,m\n${acknowledged},${acknowledged}`);
      const body = 'm v=5000i 5000';
      const written = await again.http.send('/api/v3/write_lp?db=d&precision=s', { body });
      assert.equal(written.status, 204, written.text);
    } finally {
      await again.stop();
    }
  });
});
