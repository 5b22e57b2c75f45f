import {
  BYTES,
  MessageInvalid,
  ProtoCursor,
  tagOf,
  VARINT,
} from '@plinth/tsdb-ingest/messages/proto-cursor.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

export type MatcherType = '=' | '!=' | '=~' | '!~';
/** By number of `LabelMatcher.Type`. */
const MATCHER_TYPES: readonly MatcherType[] = ['=', '!=', '=~', '!~'];

export interface LabelMatcher {
  readonly type: MatcherType;
  readonly name: string;
  readonly value: string;
}

export interface ReadQuery {
  /** Inclusive bounds in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly matchers: readonly LabelMatcher[];
}

export interface ReadRequest {
  readonly queries: readonly ReadQuery[];
  /** Whether the client accepts `STREAMED_XOR_CHUNKS`. */
  readonly acceptsChunks: boolean;
}

/** Prometheus sends one query in each request. */
const MAX_QUERIES = 100;
const MAX_MATCHERS = 1000;
const STREAMED_XOR_CHUNKS = 1;

/**
 * Decodes `prometheus.ReadRequest`. Ignores hints, because they only permit the server to omit samples. Throws
 * `message_invalid`, `parameter_invalid`. Source: Prometheus, `prompb/remote.proto`.
 */
export function decodeReadRequest(body: Uint8Array): ReadRequest {
  const cursor = new ProtoCursor(body);
  const queries: ReadQuery[] = [];
  let acceptsChunks = false;
  const noteType = (type: number): void => {
    acceptsChunks ||= type === STREAMED_XOR_CHUNKS;
  };
  try {
    readFields(cursor, body.length, {
      [tagOf(1, BYTES)]: (end) => queries.push(readQuery(cursor, end)),
      [tagOf(2, VARINT)]: (end) => noteType(cursor.uint(end)),
      [tagOf(2, BYTES)]: (end) => {
        while (cursor.at < end) noteType(cursor.uint(end));
      },
    });
  } catch (error) {
    if (!(error instanceof MessageInvalid)) throw error;
    throw tsdbError('message_invalid', { message: 'remote read', why: error.message });
  }
  if (queries.length > MAX_QUERIES)
    throw tsdbError('parameter_invalid', `too many queries; send at most ${MAX_QUERIES}`);
  return { queries, acceptsChunks };
}

function readQuery(cursor: ProtoCursor, end: number): ReadQuery {
  let startMs = 0;
  let endMs = 0;
  const matchers: LabelMatcher[] = [];
  readFields(cursor, end, {
    [tagOf(1, VARINT)]: (fieldEnd) => {
      startMs = cursor.int(fieldEnd);
    },
    [tagOf(2, VARINT)]: (fieldEnd) => {
      endMs = cursor.int(fieldEnd);
    },
    [tagOf(3, BYTES)]: (fieldEnd) => matchers.push(readMatcher(cursor, fieldEnd)),
  });
  if (matchers.length > MAX_MATCHERS)
    throw tsdbError(
      'parameter_invalid',
      `too many matchers in a query; send at most ${MAX_MATCHERS}`,
    );
  return { startMs, endMs, matchers };
}

function readMatcher(cursor: ProtoCursor, end: number): LabelMatcher {
  let number = 0;
  let name = '';
  let value = '';
  readFields(cursor, end, {
    [tagOf(1, VARINT)]: (fieldEnd) => {
      number = cursor.uint(fieldEnd);
    },
    [tagOf(2, BYTES)]: (fieldEnd) => {
      name = cursor.text(cursor.at, fieldEnd);
    },
    [tagOf(3, BYTES)]: (fieldEnd) => {
      value = cursor.text(cursor.at, fieldEnd);
    },
  });
  const type = MATCHER_TYPES[number];
  if (type === undefined)
    throw tsdbError('parameter_invalid', `unknown matcher type ${number}; use 0 to 3`);
  return { type, name, value };
}

/** Readers by tag. The argument is the end of the field if it has a length, otherwise the end of the message. */
type FieldReaders = Readonly<Record<number, (end: number) => unknown>>;

/** Reads a message up to `end`; unknown fields are skipped. */
function readFields(cursor: ProtoCursor, end: number, readers: FieldReaders): void {
  while (cursor.at < end) {
    const tag = cursor.tag(end);
    const read = readers[tag];
    if (read === undefined) cursor.skip(tag, end);
    else if ((tag & 7) === BYTES) {
      const fieldEnd = cursor.enter(end);
      read(fieldEnd);
      cursor.at = fieldEnd;
    } else read(end);
  }
}
