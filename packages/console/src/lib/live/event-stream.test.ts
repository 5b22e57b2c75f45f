// Source: HTML, "Interpreting an event stream" and its examples.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EventStreamParser, type StreamEvent } from './event-stream.js';

const whole = (text: string): readonly StreamEvent[] => new EventStreamParser().take(text);

it('reads fields, and ignores comments and messages without data', () => {
  assert.deepEqual(whole(': heartbeat\n\nevent: log\nid: server-logs:7\ndata: {"a":1}\n\n'), [
    { event: 'log', id: 'server-logs:7', data: '{"a":1}' },
  ]);
  assert.deepEqual(whole('data: YHOO\ndata: +2\ndata: 10\n\n'), [
    { event: 'message', id: '', data: 'YHOO\n+2\n10' },
  ]);
  assert.deepEqual(whole('data\n\ndata\ndata\n\ndata:'), [
    { event: 'message', id: '', data: '' },
    { event: 'message', id: '', data: '\n' },
  ]);
  assert.deepEqual(whole('data:test\n\ndata: test\n\ndata:  test\n\n'), [
    { event: 'message', id: '', data: 'test' },
    { event: 'message', id: '', data: 'test' },
    { event: 'message', id: '', data: ' test' },
  ]);
  assert.deepEqual(whole('event: a\n\ndata: x\n\nretry: 5\nother: 1\ndata: y\n'), [
    { event: 'message', id: '', data: 'x' },
  ]);
});

it('reads the same wherever the stream is cut, characters of several bytes included', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = [
      ': heartbeat',
      '',
      'event: log',
      'id: trigger-logs:a%3Ab:12',
      'data: {"text":"Größe 💥 1"}',
      '',
      'event: queue',
      'id: queue:7:3',
      'data: {}',
      '',
      ': end',
      '',
      '',
    ].join(end);
    const expected = [
      { event: 'log', id: 'trigger-logs:a%3Ab:12', data: '{"text":"Größe 💥 1"}' },
      { event: 'queue', id: 'queue:7:3', data: '{}' },
    ];
    const bytes = new TextEncoder().encode(text);
    for (let first = 0; first <= bytes.length; first++) {
      for (let second = first; second <= bytes.length; second++) {
        const parser = new EventStreamParser();
        const decoder = new TextDecoder();
        const read = [
          bytes.subarray(0, first),
          bytes.subarray(first, second),
          bytes.subarray(second),
        ].flatMap((piece) => parser.take(decoder.decode(piece, { stream: true })));
        assert.deepEqual(read, expected, `${first} ${second}`);
      }
    }
  }
});

it('rejects a message that never ends', () => {
  const parser = new EventStreamParser();
  assert.throws(() => {
    for (let count = 0; count < 100; count++) parser.take('x'.repeat(100_000));
  }, /longer than 4 MiB/);
});
