import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { readTlsIdentity } from './tls-identity.js';

it('a pipe in place of a key or certificate is refused instead of waited for', {
  skip: process.platform === 'win32',
  timeout: 10_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'plinth-pipe-'));
  try {
    const pipe = join(folder, 'server.pem');
    execFileSync('mkfifo', [pipe]);
    const settings = { keyFile: pipe, certFile: pipe, minVersion: 'TLSv1.2' } as const;
    await assert.rejects(readTlsIdentity(settings), (error: Error) => {
      assert.match(error.message, /--tls-(key|cert): .*server\.pem is not a regular file/);
      return true;
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
