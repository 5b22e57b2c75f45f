import assert from 'node:assert/strict';
import { it } from 'node:test';
import { asDiskFull, DiskFull } from './disk-full.js';
import { fileError } from './file-error.js';

const coded = (code: string): Error => Object.assign(new Error(code), { code });

it('is told by the words of the system, of SQLite and of PostgreSQL, also where others wrap them', () => {
  const codes = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_IOERR_SHMSIZE'];
  for (const code of [...codes, 'EMFILE', 'ENFILE', '53100']) {
    assert.ok(asDiskFull(coded(code)) instanceof DiskFull, code);
    const wrapped = new Error('a transaction', {
      cause: fileError('sync_failed', '/x', coded(code)),
    });
    assert.equal(asDiskFull(wrapped)?.cause, wrapped);
  }
  const handles = new Error('a flush', { cause: coded('EMFILE') });
  assert.match(asDiskFull(handles)?.message ?? '', /limit of open files/);
  const full = new DiskFull(undefined);
  assert.equal(asDiskFull(new Error('a write', { cause: full })), full);
});

it('is nothing else that a disk may say', () => {
  for (const code of ['EIO', 'EACCES', 'SQLITE_IOERR_FSYNC', 'SQLITE_CORRUPT', '']) {
    assert.equal(asDiskFull(fileError('sync_failed', '/x', coded(code))), undefined, code);
  }
  assert.equal(asDiskFull('ENOSPC'), undefined);
  const circle = new Error('round');
  circle.cause = circle;
  assert.equal(asDiskFull(circle), undefined);
});
