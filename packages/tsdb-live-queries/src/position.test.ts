import assert from 'node:assert/strict';
import { it } from 'node:test';
import { completeSeq, parsePosition, positionText } from './position.js';

it('reads positions that it has written, and nothing else', () => {
  for (const text of ['0', '1764443404000000000', '17.3'])
    assert.equal(positionText(parsePosition(text) ?? { seq: -1n }), text);
  for (const text of ['', 'x', '-1', '1.', '1.2.3', ' 1', '12345678901234567890', '1.1234567890'])
    assert.equal(parsePosition(text), undefined, text);
  assert.equal(completeSeq({ seq: 17n, count: 3 }), 16n);
  assert.equal(completeSeq({ seq: 17n }), 17n);
});
