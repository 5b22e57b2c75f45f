import assert from 'node:assert/strict';
import { it } from 'node:test';
import { tsdbError } from '@plinth/tsdb-model/errors.js';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { decodeReadRequest } from './read-request.js';

/** Source: Prometheus, `prompb/remote.proto`. */
const REQUEST = protobuf
  .parse(
    `syntax = "proto3";
    message ReadRequest { repeated Query queries = 1; repeated int32 accepted_response_types = 2; }
    message Query { int64 start_timestamp_ms = 1; int64 end_timestamp_ms = 2; repeated LabelMatcher matchers = 3; Hints hints = 4; }
    message LabelMatcher { int32 type = 1; string name = 2; string value = 3; }
    message Hints { int64 step_ms = 1; string func = 2; }`,
  )
  .root.lookupType('ReadRequest');

const encode = (message: object): Uint8Array =>
  REQUEST.encode(REQUEST.fromObject(message)).finish();
const BODY = encode({
  queries: [
    {
      ...{
        startTimestampMs: -5,
        endTimestampMs: 1_735_549_200_000,
        hints: { stepMs: 1, func: 'rate' },
      },
      matchers: [
        { type: 0, name: '__name__', value: 'up' },
        { type: 3, name: 'job', value: 'a|b' },
      ],
    },
  ],
  acceptedResponseTypes: [0, 1],
});

it('decodes queries, matchers and accepted types', () => {
  assert.deepEqual(decodeReadRequest(BODY), {
    acceptsChunks: true,
    queries: [
      {
        startMs: -5,
        endMs: 1_735_549_200_000,
        matchers: [
          { type: '=', name: '__name__', value: 'up' },
          { type: '!~', name: 'job', value: 'a|b' },
        ],
      },
    ],
  });
});

it('refuses too many queries, too many matchers and unknown types', () => {
  const check = (message: object, text: RegExp) =>
    assert.throws(() => decodeReadRequest(encode(message)), {
      kind: 'parameter_invalid',
      message: text,
    });
  check({ queries: Array.from({ length: 101 }, () => ({})) }, /^too many queries; send at most/);
  const matchers = Array.from({ length: 1001 }, () => ({ name: 'a' }));
  check({ queries: [{ matchers }] }, /^too many matchers in a query; send at most 1000$/);
  check({ queries: [{ matchers: [{ type: 4 }] }] }, /^unknown matcher type 4/);
});

it('ends on random bytes and on changed requests', () => {
  const change = fc.tuple(fc.nat(BODY.length - 1), fc.integer({ min: 0, max: 255 }));
  const changed = fc.array(change, { maxLength: 4 }).map((changes) => {
    const copy = Uint8Array.from(BODY);
    for (const [at, byte] of changes) copy[at] = byte;
    return copy;
  });
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 100 }), changed), (body) => {
      try {
        decodeReadRequest(body);
      } catch (error) {
        assert.ok(tsdbError.is(error), String(error));
      }
    }),
    { numRuns: 5000 },
  );
});
