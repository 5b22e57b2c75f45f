import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryFolder } from '@plinth/kernel/testing';
import { readTlsIdentity } from './tls-identity.js';

it('a pipe in place of a key or certificate is refused instead of waited for', {
  skip: process.platform === 'win32',
  timeout: 10_000,
}, async () => {
  const folder = await temporaryFolder();
  const pipe = join(folder, 'server.pem');
  execFileSync('mkfifo', [pipe]);
  const settings = { keyFile: pipe, certFile: pipe, minVersion: 'TLSv1.2' } as const;
  await assert.rejects(readTlsIdentity(settings), (error: Error) => {
    assert.match(error.message, /--tls-(key|cert): .*server\.pem is not a regular file/);
    return true;
  });
});
