// Source: processing-engine, "Trigger specification grammar", "Duration grammar".
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatDuration, parseDuration } from '@plinth/tsdb-model/time/duration.js';
import {
  canonicalText,
  parseTriggerSpecification,
  specificationJson,
} from './trigger-specification.js';

describe('parseDuration', () => {
  it('adds spans of every unit', () => {
    const units: readonly (readonly [text: string, ns: bigint])[] = [
      ['1ns', 1n],
      ['2usec', 2_000n],
      ['3millis', 3_000_000n],
      ['10s', 10_000_000_000n],
      ['1m', 60_000_000_000n],
      ['2 h', 7_200_000_000_000n],
      ['1h 30min', 5_400_000_000_000n],
      ['1day2hours', 93_600_000_000_000n],
      ['1w', 604_800_000_000_000n],
      ['1M', 2_630_016_000_000_000n],
      ['1y', 31_557_600_000_000_000n],
    ];
    for (const [text, ns] of units) assert.equal(parseDuration(text), ns, text);
    for (const text of ['', '1', 's', '-1s', '1.5s', '1x', '1S']) {
      assert.equal(parseDuration(text), undefined, text);
    }
  });

  it('prints the parts that are not zero', () => {
    const all = 31_557_600_000_000_000n + 2n * 2_630_016_000_000_000n + 3n * 86_400_000_000_000n;
    const clock = 4n * 3_600_000_000_000n + 5n * 60_000_000_000n + 6_007_008_009n;
    assert.equal(formatDuration(all + clock), '1year 2months 3days 4h 5m 6s 7ms 8us 9ns');
    assert.equal(formatDuration(1_234_567n), '1ms 234us 567ns');
    assert.equal(formatDuration(0n), '0s');
  });
});

describe('parseTriggerSpecification', () => {
  it('reads its own canonical text', () => {
    for (const text of [
      'all_tables',
      'table:a b',
      'cron:0 0 6 * * 1-5',
      'every:1h 30m',
      'every:3months 1day',
      'request:a/b',
    ]) {
      const specification = parseTriggerSpecification(text);
      assert.equal(canonicalText(specification), text);
      assert.deepEqual(parseTriggerSpecification(canonicalText(specification)), specification);
    }
    const half = parseTriggerSpecification('every:1500ms');
    assert.equal(specificationJson(half), '{"every":{"duration":{"secs":1,"nanos":500000000}}}');
  });
});
