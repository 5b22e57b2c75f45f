import { bytesResponse, type HttpHeaders, type HttpResponse, jsonResponse } from '@plinth/kernel';
import { MessageWriter } from '@plinth/tsdb-ingest/messages/message-writer.js';
import { BYTES, tagOf, VARINT } from '@plinth/tsdb-ingest/messages/proto-cursor.js';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

export const PROTOBUF = 'application/x-protobuf';
export const JSON_TYPE = 'application/json';
export type OtlpType = typeof PROTOBUF | typeof JSON_TYPE;

/** Source: OpenTelemetry, `collector/metrics/v1/metrics_service.proto`; `google.rpc.Status`. */
const PARTIAL_SUCCESS_TAG = tagOf(1, BYTES);
const REJECTED_TAG = tagOf(1, VARINT);
const ERROR_MESSAGE_TAG = tagOf(2, BYTES);
const STATUS_MESSAGE_TAG = tagOf(2, BYTES);

/** Throws `content_type_unsupported`. */
export function otlpTypeOf({ 'content-type': given }: HttpHeaders): OtlpType {
  const media = given?.split(';', 1)[0]?.trim().toLowerCase();
  if (media === PROTOBUF || media === JSON_TYPE) return media;
  throw tsdbError('content_type_unsupported', {
    given: `content type "${given ?? ''}"`,
    expected: `${PROTOBUF} or ${JSON_TYPE}`,
  });
}

/** Throws `content_type_unsupported`. */
export function otlpEncodingOf({ 'content-encoding': given }: HttpHeaders): 'identity' | 'gzip' {
  if (given === undefined || given === 'identity' || given === 'gzip') return given ?? 'identity';
  throw tsdbError('content_type_unsupported', {
    given: `content encoding "${given}"`,
    expected: 'gzip or identity',
  });
}

export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

/** Creates an `ExportMetricsServiceResponse`, with `partial_success` only if points were rejected. */
export function metricsResponse(type: OtlpType, partial: PartialSuccess | undefined): HttpResponse {
  if (type === JSON_TYPE) {
    if (partial === undefined) return jsonResponse(200, {});
    const { rejected, message } = partial;
    // A 64-bit integer is a string in JSON.
    const partialSuccess = { rejectedDataPoints: String(rejected), errorMessage: message };
    return jsonResponse(200, { partialSuccess });
  }
  return bytesResponse(200, PROTOBUF, responseMessage(partial));
}

/** `ExportMetricsServiceResponse` in Protocol Buffers. */
export function responseMessage(partial: PartialSuccess | undefined): Buffer {
  const writer = new MessageWriter();
  if (partial !== undefined) {
    const inner = new MessageWriter();
    inner.uint(REJECTED_TAG);
    inner.uint(partial.rejected);
    inner.text(ERROR_MESSAGE_TAG, partial.message);
    writer.field(PARTIAL_SUCCESS_TAG, inner.take());
  }
  return writer.take();
}

/**
 * Creates a `google.rpc.Status` in the content type of the request, or in JSON. Its code is omitted, because clients
 * read the status of the response. Source: OTLP/HTTP, "Failures".
 */
export function statusResponse(
  headers: HttpHeaders,
  status: number,
  message: string,
): HttpResponse {
  const media = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (media !== PROTOBUF) return jsonResponse(status, { message });
  const writer = new MessageWriter();
  writer.text(STATUS_MESSAGE_TAG, message);
  return bytesResponse(status, PROTOBUF, writer.take());
}
