// Source: HTML, "Interpreting an event stream" and its examples.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EventStreamParser, type StreamEvent } from './event-stream.js';

const MAX_LENGTH = 1_000_000;
const whole = (text: string): readonly StreamEvent[] =>
  new EventStreamParser(MAX_LENGTH).take(text);

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
        const parser = new EventStreamParser(MAX_LENGTH);
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

it('keeps the last id, which lines without data change without an event', () => {
  const parser = new EventStreamParser(MAX_LENGTH);
  assert.deepEqual(parser.take('id: 1\ndata: a\n\n: heartbeat\nid: 2\n'), [
    { event: 'message', id: '1', data: 'a' },
  ]);
  assert.equal(parser.lastId, '1');
  assert.deepEqual(parser.take('\n'), []);
  assert.equal(parser.lastId, '2');
  assert.deepEqual(parser.take('data: b\n\nid: 3\0\ndata: c\n\nid\ndata: d\n\n'), [
    { event: 'message', id: '2', data: 'b' },
    { event: 'message', id: '2', data: 'c' },
    { event: 'message', id: '', data: 'd' },
  ]);
});

it('rejects an event that never ends, as one line or many', () => {
  for (const piece of ['x'.repeat(1000), `data: ${'x'.repeat(100)}\n`, 'data\n']) {
    const parser = new EventStreamParser(MAX_LENGTH);
    assert.throws(() => {
      for (let length = 0; length < 5 * MAX_LENGTH; length += piece.length) parser.take(piece);
    }, /longer than 1000000 characters/);
  }
});

it('takes any number of events, each of the full length', () => {
  const parser = new EventStreamParser(1000);
  const event = `data: ${'x'.repeat(990)}\n\n`;
  for (let count = 0; count < 10; count++) {
    parser.take(': a comment without an empty line\n'.repeat(100));
    assert.equal(parser.take(event.repeat(3)).length, 3);
  }
});
