import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import protobuf from 'protobufjs';
import type { HttpRequest, HttpResponse } from './http-client.js';
import type { RunningServer } from './running-server.js';

/** Source: Prometheus, `prompb/types.proto`, `prompb/remote.proto`; remote write 1.0. */
const PROTO = `
syntax = "proto3";
message WriteRequest { repeated TimeSeries timeseries = 1; repeated MetricMetadata metadata = 3; }
message MetricMetadata { int32 type = 1; string metric_family_name = 2; string help = 4; string unit = 5; }
message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; repeated Exemplar exemplars = 3;
  repeated Histogram histograms = 4; }
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
const HISTOGRAM = `
message Histogram {
  oneof count { uint64 count_int = 1; double count_float = 2; }
  double sum = 3; sint32 schema = 4; double zero_threshold = 5;
  oneof zero_count { uint64 zero_count_int = 6; double zero_count_float = 7; }
  repeated BucketSpan negative_spans = 8; repeated sint64 negative_deltas = 9; repeated double negative_counts = 10;
  repeated BucketSpan positive_spans = 11; repeated sint64 positive_deltas = 12; repeated double positive_counts = 13;
  int32 reset_hint = 14; int64 timestamp = 15; repeated double custom_values = 16;
}
message BucketSpan { sint32 offset = 1; uint32 length = 2; }
`;
/** Source: Prometheus, `prompb/io/prometheus/write/v2/types.proto`; remote write 2.0. */
const PROTO_2 = `
syntax = "proto3";
package io.prometheus.write.v2;
message Request { repeated string symbols = 4; repeated TimeSeries timeseries = 5; }
message TimeSeries {
  repeated uint32 labels_refs = 1; repeated Sample samples = 2; repeated Histogram histograms = 3;
  repeated Exemplar exemplars = 4; Metadata metadata = 5; int64 created_timestamp = 6;
}
message Sample { double value = 1; int64 timestamp = 2; }
message Exemplar { repeated uint32 labels_refs = 1; double value = 2; int64 timestamp = 3; }
message Metadata { int32 type = 1; uint32 help_ref = 3; uint32 unit_ref = 4; }
${HISTOGRAM}`;
const types = protobuf.parse(PROTO + HISTOGRAM, { keepCase: true }).root;
const types2 = protobuf.parse(PROTO_2, { keepCase: true }).root;

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

export function encodeMessage(name: string, message: object): Uint8Array {
  const type = (name.startsWith('io.prometheus.write.v2.') ? types2 : types).lookupType(name);
  return type.encode(type.fromObject(message)).finish();
}

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
): Promise<HttpResponse> {
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
