import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LogRing } from './log-ring.js';
import { createLogger } from './logger.js';

const ringOf = (count: number): LogRing => {
  const ring = new LogRing();
  const log = createLogger({
    level: 'info',
    destination: { write: () => undefined },
    onLine: (line) => ring.add(line),
  });
  for (let index = 1; index <= count; index++) log.info({ index }, 'line');
  log.child({ service: 'tsdb' }).warn({ token: 'apiv3_secret' }, 'Careful');
  return ring;
};

describe('The log ring', () => {
  it('returns the newest lines first, filtered by level, service, text and number', () => {
    const ring = ringOf(3);
    assert.equal(ring.lastSeq, 4);
    const messages = (filter: object) =>
      ring.find({ limit: 10, ...filter }).map(({ seq, message }) => `${seq} ${message}`);
    assert.deepEqual(messages({}), ['4 Careful', '3 line', '2 line', '1 line']);
    assert.deepEqual(messages({ level: 'warn' }), ['4 Careful']);
    assert.deepEqual(messages({ service: 'tsdb' }), ['4 Careful']);
    assert.deepEqual(messages({ find: 'careFUL' }), ['4 Careful']);
    assert.deepEqual(messages({ find: '"index":2' }), ['2 line']);
    assert.deepEqual(messages({ after: 2, limit: 1 }), ['4 Careful']);
  });

  it('contains only redacted text', () => {
    const [line] = ringOf(0).find({ limit: 1 });
    assert.deepEqual(line?.fields, { token: '[redacted]' });
  });

  it('drops the oldest of more than ten thousand lines', () => {
    const ring = ringOf(10_004);
    assert.deepEqual([ring.firstSeq, ring.lastSeq], [6, 10_005]);
    assert.equal(ring.find({ limit: 20_000 }).at(-1)?.seq, 6);
  });
});
