// Source: docs/adr/0105-request-body-limits.md.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { ManualClock } from '../../testing/index.js';
import { BodyBudget } from './body-budget.js';
import { readBody } from './read-body.js';

/** @returns the body as text, or the kind of its error. */
async function read(pieces: readonly string[]): Promise<string> {
  using bodies = new BodyBudget(new ManualClock(), 10_000_000);
  const reservation = bodies.begin({ kind: 'anonymous' });
  const stream = new EventEmitter();
  const how = { contentLength: undefined, limitBytes: 1_000_000, memory: undefined, reservation };
  const whole = new Promise<string>((resolve) => {
    readBody(stream, how, (error, body) =>
      resolve(error === null ? String(body) : String(Reflect.get(error, 'kind'))),
    );
  });
  for (const piece of pieces) stream.emit('data', Buffer.from(piece));
  stream.emit('end');
  return await whole;
}

describe('a body in many pieces', () => {
  it('is complete, with small and large pieces in order', async () => {
    const pieces = Array.from({ length: 20_000 }, (_, i) =>
      i % 1000 === 500 ? `${i}`.repeat(1000) : `line ${i} of the body\n`,
    );
    assert.equal(await read(pieces), pieces.join(''));
    assert.equal(await read(['a', 'b', 'c']), 'abc');
    assert.equal(await read([]), '');
  });

  it('is rejected when thousands of pieces have only a few bytes each', async () => {
    assert.equal(await read(Array.from({ length: 4095 }, () => '#')), '#'.repeat(4095));
    assert.equal(await read(Array.from({ length: 4096 }, () => '#')), 'body_chunks_too_small');
    const lines = Array.from({ length: 4096 }, () => '0123456789abcdef');
    assert.equal(await read(lines), lines.join(''));
    assert.equal(await read([...lines, ...lines, '#']), 'body_chunks_too_small');
  });
});
