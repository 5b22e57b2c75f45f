import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLogger } from '@plinth/kernel';
import { fastify } from 'fastify';
import { answerError } from './to-wire.js';

it('logs an error for what is a bug, and none for each request that a full disk refuses', async (t) => {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const app = fastify();
  t.after(() => app.close());
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  app.get('/full', (request, reply) => answerError(full, log, request, reply));
  app.get('/bug', (request, reply) => answerError(new Error('a bug'), log, request, reply));
  for (let i = 0; i < 3; i++) assert.equal((await app.inject('/full')).statusCode, 503);
  assert.equal(lines.length, 0);
  assert.equal((await app.inject('/bug')).statusCode, 500);
  assert.equal(lines.length, 1);
});
