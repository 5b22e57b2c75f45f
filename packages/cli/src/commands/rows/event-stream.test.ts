// Source: HTML, "Server-sent events".
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { eventsOf } from './event-stream.js';

const TEXT =
  'event: start\nid: 1\ndata: {}\n\n: heartbeat\nid: 2\n\nid: 3\ndata: a,ü\ndata: 1,x: y\n\nevent: end\ndata: {"reason":"r"}\n\n';

async function parse(pieces: readonly Uint8Array[]) {
  const source = (async function* () {
    yield* pieces;
  })();
  const events: unknown[] = [];
  for await (const event of eventsOf(source)) events.push(event);
  return events;
}

it('parses events, whatever the pieces', async () => {
  const expected = [
    { event: 'start', id: '1', data: '{}' },
    { event: '', id: '2', data: '' },
    { event: 'message', id: '3', data: 'a,ü\n1,x: y' },
    { event: 'end', id: undefined, data: '{"reason":"r"}' },
  ];
  const bytes = Buffer.from(TEXT);
  assert.deepEqual(await parse([bytes]), expected);
  for (const size of [1, 2, 7]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    assert.deepEqual(await parse(pieces), expected, `pieces of ${size} bytes`);
  }
});
