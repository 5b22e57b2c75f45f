// Source: spec/processing-engine.md, "System tables and log lines".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorPosition, runsOf } from './trigger-runs.js';

const log = (...texts: readonly string[]) =>
  texts
    .map((text, index) => ({
      event_time: `2026-01-01T00:00:0${index}`,
      log_level: text.startsWith('error') ? 'ERROR' : 'INFO',
      log_text: text,
    }))
    .reverse();
const told = (...texts: readonly string[]): readonly string[] =>
  runsOf(log(...texts)).map(
    ({ startedAt, result, text, lines }) =>
      `${startedAt.slice(-1)} ${result} ${text} [${lines.map((line) => line.log_text)}]`,
  );

it('groups log lines into runs, newest first', () => {
  assert.deepEqual(
    told(
      'starting execution of wal plugin.',
      'seen',
      'finished execution in 1ms 234us 567ns',
      'starting execution with scheduled time 2026-01-01 00:00:03 UTC',
      'error executing schedule plugin: ValueError: no',
      'starting execution of request plugin.',
      'at work',
    ),
    ['5 running  [at work]', '3 failed ValueError: no []', '0 succeeded 1ms 234us [seen]'],
  );
});

it('keeps a run whose start has been dropped from the log', () => {
  assert.deepEqual(told('late', 'finished execution in 5us'), ['1 succeeded 5us []']);
  assert.deepEqual(told(), []);
});

it('finds the line of an error', () => {
  assert.equal(errorPosition('a\nbc\nd', 'SyntaxError: bad (<string>, line 3)'), 5);
  assert.equal(errorPosition('a', 'SyntaxError: bad (<string>, line 3)'), undefined);
  assert.equal(errorPosition('a', 'ValueError: x'), undefined);
});
