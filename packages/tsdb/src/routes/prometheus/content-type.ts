import type { HttpHeaders } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

const MEDIA_TYPE = 'application/x-protobuf';
export const EXPECTED_TYPES = MEDIA_TYPE;

/**
 * Checks content type and encoding of a request of Prometheus. A missing header means version 1, as
 * in InfluxDB 1.x, which ignores both. Throws `content_type_unsupported`. Source: tsdb-http,
 * "Prometheus remote write".
 */
export function requireProtobuf(headers: HttpHeaders, messageName: string): void {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'snappy')
    throw unsupported('content encoding', encoding, 'snappy');
  const type = headers['content-type'];
  if (type === undefined) return;
  const [media = '', ...parameters] = type.split(';').map((part) => part.trim());
  if (media.toLowerCase() !== MEDIA_TYPE) throw unsupported('content type', type, EXPECTED_TYPES);
  const message = parameters.find((text) => /^proto=/i.test(text))?.slice('proto='.length);
  if (message !== undefined && message !== messageName)
    throw unsupported('content type', type, EXPECTED_TYPES);
}

const unsupported = (what: string, given: string, expected: string): Error =>
  tsdbError('content_type_unsupported', { given: `${what} "${given}"`, expected });
