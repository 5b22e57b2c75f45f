import { snappyUncompress } from 'hyparquet';
import type { HttpRequest, HttpResponse } from './http-client.js';
import { decodeMessage, encodeMessage, type Labels, snappy } from './prometheus-messages.js';
import type { RunningServer } from './running-server.js';

const MATCHER_TYPES = ['=', '!=', '=~', '!~'] as const;
export type Matcher = readonly [name: string, type: (typeof MATCHER_TYPES)[number], value: string];

/** Milliseconds and the bits of the value in hexadecimal, big-endian. */
export type ReadSample = readonly [number, string];
export interface ReadSeries {
  readonly labels: Labels;
  readonly samples: readonly ReadSample[];
}

export const bitsOf = (value: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
};
export const STALE_BITS = '7ff0000000000002';

export interface ReadOptions {
  readonly path?: string;
  readonly headers?: HttpRequest['headers'];
  readonly startMs?: number;
  readonly endMs?: number;
  readonly chunked?: boolean;
}

export async function sendRead(
  server: RunningServer,
  matchers: readonly Matcher[],
  { path = '/api/v1/read', headers = {}, startMs = 0, endMs = 4e12, chunked }: ReadOptions = {},
): Promise<HttpResponse> {
  const message = encodeMessage('ReadRequest', {
    queries: [
      {
        start_timestamp_ms: startMs,
        end_timestamp_ms: endMs,
        matchers: matchers.map(([name, type, value]) => ({
          name,
          value,
          type: MATCHER_TYPES.indexOf(type),
        })),
      },
    ],
    accepted_response_types: chunked ? [1] : [],
  });
  return await server.http.send(path, {
    body: snappy(message),
    headers: {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'accept-encoding': 'snappy',
      ...headers,
    },
  });
}

interface WireLabels {
  readonly labels: readonly { readonly name: string; readonly value: string }[];
}
const labelsOf = ({ labels }: WireLabels): Labels =>
  Object.fromEntries(labels.map(({ name, value }) => [name, value]));

/** Decodes a response with samples. Bits are read from the bytes, because numbers lose those of a NaN. */
export function sampledSeries({ bytes: body }: Pick<HttpResponse, 'bytes'>): ReadSeries[] {
  const plain = Buffer.alloc(sizeOf(body));
  snappyUncompress(body, plain);
  const { results } = decodeMessage('ReadResponse', plain) as {
    readonly results: readonly {
      readonly timeseries: readonly (WireLabels & {
        readonly samples: readonly { readonly value: number; readonly timestamp: number }[];
      })[];
    }[];
  };
  let from = 0;
  return (results[0]?.timeseries ?? []).map((series) => ({
    labels: labelsOf(series),
    samples: series.samples.map(({ value, timestamp }): ReadSample => {
      if (!Number.isNaN(value)) return [timestamp, bitsOf(value)];
      const stale = Buffer.from(STALE_BITS, 'hex').reverse();
      const at = plain.indexOf(stale, from);
      if (at < 0) return [timestamp, bitsOf(Number.NaN)];
      from = at + 8;
      return [timestamp, STALE_BITS];
    }),
  }));
}

function sizeOf(block: Uint8Array): number {
  let size = 0;
  for (let at = 0; ; at++) {
    const byte = block[at] as number;
    size += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return size;
  }
}

/** Decodes frames: length, CRC-32C, message. Source: Prometheus, `storage/remote/chunked.go`. */
export function chunkedSeries({ bytes }: Pick<HttpResponse, 'bytes'>): ReadSeries[] {
  const series: { labels: Labels; samples: ReadSample[] }[] = [];
  for (let at = 0; at < bytes.length; ) {
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] as number;
      size += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const message = bytes.subarray(at + 4, at + 4 + size);
    if (bytes.readUInt32BE(at) !== crc32c(message)) throw new Error('wrong checksum');
    at += 4 + size;
    const { chunked_series } = decodeMessage('ChunkedReadResponse', message) as {
      readonly chunked_series: readonly (WireLabels & {
        readonly chunks: readonly { readonly type: number; readonly data: Buffer }[];
      })[];
    };
    for (const one of chunked_series) {
      const labels = labelsOf(one);
      const last = series.at(-1);
      const isSame = JSON.stringify(last?.labels) === JSON.stringify(labels);
      const target = isSame && last !== undefined ? last : { labels, samples: [] };
      if (target !== last) series.push(target);
      for (const { type, data } of one.chunks) {
        if (type !== 1) throw new Error(`chunk type ${type}`);
        target.samples.push(...xorSamples(data));
      }
    }
  }
  return series;
}

/** Source: RFC 3720, CRC-32C. */
function crc32c(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let i = 0; i < 8; i++) sum = (sum >>> 1) ^ (sum & 1 ? 0x82f63b78 : 0);
  }
  return ~sum >>> 0;
}

/** Decodes an XOR chunk. Source: Prometheus, `tsdb/chunkenc/xor.go`, `xorIterator`. */
export function xorSamples(chunk: Uint8Array): ReadSample[] {
  const bytes = Buffer.from(chunk);
  let bit = 16;
  const read = (width: number): bigint => {
    let value = 0n;
    for (let i = 0; i < width; i++, bit++)
      value = (value << 1n) | BigInt(((bytes[bit >> 3] as number) >> (7 - (bit & 7))) & 1);
    return value;
  };
  const uvarint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = read(8);
      value |= (byte & 0x7fn) << shift;
      if (byte < 0x80n) return value;
    }
  };
  const count = bytes.readUInt16BE(0);
  const samples: ReadSample[] = [];
  let time = 0n;
  let delta = 0n;
  let value = 0n;
  let leading = 0n;
  let trailing = 0n;
  for (let i = 0; i < count; i++) {
    if (i === 0) {
      const zigzag = uvarint();
      time = (zigzag >> 1n) ^ -(zigzag & 1n);
      value = read(64);
    } else {
      if (i === 1) delta = uvarint();
      else {
        let ones = 0;
        while (ones < 4 && read(1) === 1n) ones++;
        const width = [0, 14, 17, 20, 64][ones] as number;
        let difference = read(width);
        if (
          width > 0 &&
          (width === 64 ? difference >> 63n === 1n : difference > 1n << BigInt(width - 1))
        )
          difference -= 1n << BigInt(width);
        delta += difference;
      }
      time += delta;
      if (read(1) === 1n) {
        if (read(1) === 1n) {
          leading = read(5);
          const width = read(6) || 64n;
          trailing = 64n - leading - width;
        }
        value ^= read(Number(64n - leading - trailing)) << trailing;
      }
    }
    samples.push([Number(time), value.toString(16).padStart(16, '0')]);
  }
  return samples;
}
