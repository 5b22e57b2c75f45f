import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import protobuf from 'protobufjs';
import type { HttpAnswer, HttpRequest } from './http-client.js';
import type { RunningServer } from './running-server.js';

/** Source: Prometheus, `prompb/types.proto`, `prompb/remote.proto`; remote write 1.0. */
const PROTO = `
syntax = "proto3";
message WriteRequest { repeated TimeSeries timeseries = 1; repeated MetricMetadata metadata = 3; }
message MetricMetadata { int32 type = 1; string metric_family_name = 2; string help = 4; string unit = 5; }
message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; repeated Exemplar exemplars = 3; }
message Label { string name = 1; string value = 2; }
message Sample { double value = 1; int64 timestamp = 2; }
message ReadRequest { repeated Query queries = 1; repeated int32 accepted_response_types = 2; }
message Query { int64 start_timestamp_ms = 1; int64 end_timestamp_ms = 2; repeated LabelMatcher matchers = 3; }
message LabelMatcher { int32 type = 1; string name = 2; string value = 3; }
message ReadResponse { repeated QueryResult results = 1; }
message QueryResult { repeated TimeSeries timeseries = 1; }
message ChunkedReadResponse { repeated ChunkedSeries chunked_series = 1; int64 query_index = 2; }
message ChunkedSeries { repeated Label labels = 1; repeated Chunk chunks = 2; }
message Chunk { int64 min_time_ms = 1; int64 max_time_ms = 2; int32 type = 3; bytes data = 4; }
message Exemplar { repeated Label labels = 1; double value = 2; int64 timestamp = 3; }
`;
const types = protobuf.parse(PROTO, { keepCase: true }).root;

export type Labels = Readonly<Record<string, string>>;
/** Value and milliseconds. */
export type Sample = readonly [number, number];
export type Series = readonly [Labels, ...Sample[]];

/**
 * A series that ends at a time. A stale marker is a NaN with bits of its own, which a number of
 * JavaScript cannot carry, so the message is written byte by byte. Source: Prometheus,
 * `value.StaleNaN`.
 */
export function staleRequest(labels: Labels, timeMs: number): Uint8Array {
  const marked = writeRequest([[labels, [PLACEHOLDER, timeMs]]]);
  const bytes = Buffer.from(marked);
  const value = Buffer.alloc(8);
  value.writeDoubleLE(PLACEHOLDER);
  Buffer.from('020000000000f07f', 'hex').copy(bytes, bytes.indexOf(value));
  return bytes;
}

const PLACEHOLDER = 123.456;

export const encodeMessage = (type: string, message: object): Uint8Array =>
  types.lookupType(type).encode(types.lookupType(type).fromObject(message)).finish();

export const writeRequest = (series: readonly Series[]): Uint8Array =>
  encodeMessage('WriteRequest', {
    timeseries: series.map(([labels, ...samples]) => ({
      labels: Object.entries(labels).map(([name, value]) => ({ name, value })),
      samples: samples.map(([value, timestamp]) => ({ value, timestamp })),
    })),
  });

export const decodeMessage = (type: string, bytes: Uint8Array): unknown =>
  types.lookupType(type).toObject(types.lookupType(type).decode(bytes), {
    longs: Number,
    defaults: true,
  });

export const snappy = (bytes: Uint8Array): Uint8Array => snappyCompress(bytes);

export async function remoteWrite(
  server: RunningServer,
  series: readonly Series[] | Uint8Array,
  {
    path = '/api/v1/write',
    headers = {},
  }: { readonly path?: string; readonly headers?: HttpRequest['headers'] } = {},
): Promise<HttpAnswer> {
  const message = series instanceof Uint8Array ? series : writeRequest(series);
  return await server.http.send(path, {
    body: snappy(message),
    headers: {
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
      ...headers,
    },
  });
}
