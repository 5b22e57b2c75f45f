import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withNewLines } from './log-lines.js';

const line = (seq: number, level = 'info', message = `m${seq}`) => ({
  ...{ seq, level, message, fields: { path: '/Tmp' } },
});

it('puts matching new lines first, without duplicates, up to the limit', () => {
  const page = { lines: [line(7), line(5)], last_seq: 7, first_seq: 1 };
  const lines = [line(7), line(8, 'debug'), line(9, 'warn'), line(10, 'error', 'Disk')];
  const seqs = (wanted: object) => {
    const all = { level: '', find: '', limit: 10, ...wanted };
    const { lines: shown, last_seq } = withNewLines(page, lines, all);
    return [last_seq, ...shown.map(({ seq }) => seq)];
  };
  assert.deepEqual(seqs({}), [10, 10, 9, 8, 7, 5]);
  assert.deepEqual(seqs({ level: 'info' }), [10, 10, 9, 7, 5]);
  assert.deepEqual(seqs({ level: 'error' }), [10, 10, 7, 5]);
  assert.deepEqual(seqs({ find: 'dISK' }), [10, 10, 7, 5]);
  assert.deepEqual(seqs({ find: '/tmp', limit: 3 }), [10, 10, 9, 8]);
  assert.deepEqual(seqs({ find: 'nothing' }), [10, 7, 5]);
  // Only values are searched: field names here differ from those in the server's lines.
  for (const find of ['seq', 'fields', 'message', 'path', '"']) {
    assert.deepEqual(seqs({ find }), [10, 7, 5], find);
  }
});

it('finds values within others, and numbers as they are written', () => {
  const fields = { err: { stack: ['at Here'], code: 4711 }, isOld: true };
  const found = (find: string) =>
    withNewLines(
      { lines: [], last_seq: 0 },
      [{ seq: 3, level: 'warn', service: 'tsdb', message: 'm', fields }],
      { level: '', find, limit: 10 },
    ).lines.length;
  for (const find of ['at here', '471', 'TSDB', 'warn', 'true']) assert.equal(found(find), 1, find);
  for (const find of ['stack', '3', 'isold']) assert.equal(found(find), 0, find);
});
