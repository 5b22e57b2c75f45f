// Source: tsdb-http, "Line failures".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readRefusals } from './refusals.js';

const respond = (error: string, count: number): string =>
  JSON.stringify({
    error,
    data: Array.from({ length: count }, (_, i) => ({
      original_line: 'm f=hi',
      line_number: i + 1,
      error_message: 'No fields were provided',
    })),
  });

it('reads the rejected lines and whether other lines were written', () => {
  assert.deepEqual(readRefusals(respond('partial write of line protocol occurred', 1)), {
    lines: [{ line: 1, message: 'No fields were provided' }],
    isCut: false,
    isWhole: false,
  });
  assert.equal(readRefusals(respond('write of line protocol failed', 2))?.isWhole, true);
  assert.equal(readRefusals(respond('partial write of line protocol occurred', 999))?.isCut, false);
  assert.equal(readRefusals(respond('partial write of line protocol occurred', 1000))?.isCut, true);
});

it('ignores a response about something else', () => {
  assert.equal(readRefusals('{"error":"incoming write was empty"}'), undefined);
  assert.equal(readRefusals('{"error":"e","data":[]}'), undefined);
  assert.equal(readRefusals('<html>'), undefined);
  assert.equal(readRefusals('null'), undefined);
});
