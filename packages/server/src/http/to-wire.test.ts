import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger, type HttpHead } from '@plinth/kernel';
import { errorResponse } from './to-wire.js';

it('logs errors for bugs, but not for requests refused because of a full disk', () => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const head = { url: '/full' } as HttpHead; // The only member that is used.
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  for (let i = 0; i < 3; i++) assert.equal(errorResponse(full, log, head).status, 503);
  assert.equal(lines.length, 0);
  assert.equal(errorResponse(new Error('a bug'), log, head).status, 500);
  assert.equal(lines.length, 1);
});
