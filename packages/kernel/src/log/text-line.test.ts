import assert from 'node:assert/strict';
import { it } from 'node:test';
import { textLine } from './text-line.js';

const at = new Date(2026, 10, 26, 9, 5, 7, 42).toISOString();

it('formats a log line as readable text', () => {
  const line = {
    level: 'warn',
    time: at,
    node: 'n',
    service: 'tsdb',
    file: 'a b',
    rows: 3,
    msg: 'wal tail cut',
  };
  assert.equal(
    textLine(`${JSON.stringify(line)}\n`),
    '09:05:07.042 WARN  tsdb: wal tail cut file="a b" rows=3\n',
  );
  const listens = {
    level: 'info',
    time: at,
    address: 'http://127.0.0.1:8181',
    msg: 'server listens',
  };
  assert.equal(
    textLine(JSON.stringify(listens)),
    '09:05:07.042 INFO  server listens address=http://127.0.0.1:8181\n',
  );
});

it('shows stacks below the line, escapes terminal control sequences, and keeps invalid JSON', () => {
  const err = { type: 'Error', message: 'x', stack: 'Error: x\u001b[2J\n    at f (a.js:1)' };
  assert.equal(
    textLine(JSON.stringify({ level: 'error', time: at, err, msg: 'a\u0007b' })),
    '09:05:07.042 ERROR a\\u0007b\n    Error: x\\u001b[2J\n    at f (a.js:1)\n',
  );
  assert.equal(textLine('plain'), 'plain');
});
