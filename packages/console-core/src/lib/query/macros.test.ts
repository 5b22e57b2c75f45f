// Source: docs/CONSOLE-EXPLORE.md, the macros `${from}`, `${to}`, `${interval}` and `${max_points}`.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expandMacros, intervalFor } from './macros.js';

const HOUR_MS = 3_600_000;
const range = { fromMs: Date.UTC(2026, 0, 1), toMs: Date.UTC(2026, 0, 1) + HOUR_MS };

describe('Macros of a query', () => {
  it('become literals of their language', () => {
    const text = 'x >= ${from} AND x < ${to} BY ${interval} TO ${max_points} ${other}';
    const at = { range, maxPoints: 60 };
    assert.equal(
      expandMacros(text, { ...at, language: 'sql' }).text,
      "x >= TIMESTAMP '2026-01-01T00:00:00.000Z' AND x < TIMESTAMP '2026-01-01T01:00:00.000Z' BY INTERVAL '1 minute' TO 60 ${other}",
    );
    assert.equal(
      expandMacros(text, { ...at, language: 'influxql' }).text,
      "x >= '2026-01-01T00:00:00.000Z' AND x < '2026-01-01T01:00:00.000Z' BY 1m TO 60 ${other}",
    );
  });

  it('are not replaced in strings', () => {
    const at = { range, maxPoints: 5 };
    for (const [language, text] of [
      ['sql', `x = 'it''s \${from}' AND "a\${to}" = \${max_points} -- \${from}`],
      ['influxql', `x = 'it\\'s \${from}' AND "a\${to}" = \${max_points} AND y =~ /\${to}/`],
    ] as const)
      assert.equal(
        expandMacros(text, { ...at, language }).text,
        text.replace('${max_points}', '5'),
      );
  });

  it('choose the narrowest bucket that fits the chart', () => {
    const check = (spanMs: number, maxPoints: number, expected: string) =>
      assert.equal(intervalFor({ fromMs: 0, toMs: spanMs }, maxPoints).influxql, expected);
    check(HOUR_MS, 360, '10s');
    check(HOUR_MS, 359, '15s');
    check(24 * HOUR_MS, 300, '5m');
    check(1, 1000, '1ms');
    check(1e15, 10, '30d');
  });

  it('map a position in the sent text to the typed text', () => {
    const typed = 'a ${max_points} b ${max_points} c';
    const { text, placeOf } = expandMacros(typed, { language: 'sql', range, maxPoints: 5 });
    for (const letter of ['a', 'b', 'c']) {
      assert.equal(
        placeOf(text.indexOf(letter)),
        typed.indexOf(letter === 'a' ? 'a' : ` ${letter}`) + (letter === 'a' ? 0 : 1),
      );
    }
  });
});
