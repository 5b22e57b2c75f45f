import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Random } from './random.js';
import { BASE62, randomLetters } from './random-letters.js';

/** Returns these bytes, then zeros. */
const bytesOf = (bytes: readonly number[]): Random => {
  const left = [...bytes];
  return {
    bytes: (sizeBytes) => Uint8Array.from({ length: sizeBytes }, () => left.shift() ?? 0),
    float: () => 0,
    uuidV4: () => '',
    uuidV7: () => '',
  };
};

describe('randomLetters', () => {
  it('skips bytes that would favour the first letters', () => {
    assert.equal(randomLetters(bytesOf([0, 61, 62, 247, 248, 255, 10]), 5), '0z0zA');
  });

  it('uses every letter equally often', () => {
    const all = Array.from({ length: 256 }, (_, byte) => byte);
    const text = randomLetters(bytesOf(all), 248);
    const counts = new Map([...BASE62].map((letter) => [letter, text.split(letter).length - 1]));
    assert.deepEqual(new Set(counts.values()), new Set([4]));
  });
});
