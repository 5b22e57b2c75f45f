// Source: W3C Trace Context, sections 3.2.2 and 4.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseTraceParent } from './trace-parent.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it('parses ids and the sampled flag, also of later versions', () => {
  const read = { traceId: TRACE, spanId: SPAN };
  for (const [text, isSampled] of [
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`00-${TRACE}-${SPAN}-02`, false],
    [`cc-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, true],
  ] as const) {
    assert.deepEqual(parseTraceParent(text), { ...read, isSampled }, text);
  }
});

it('ignores invalid values', () => {
  for (const text of [
    undefined,
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01 `,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01.what`,
    `00-${TRACE}x-${SPAN}-01`,
    'a'.repeat(100_000),
  ]) {
    assert.equal(parseTraceParent(text), undefined, text?.slice(0, 100));
  }
});
