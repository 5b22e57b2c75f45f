import type { HttpHeaders } from '@plinth/kernel';
import { tsdbError } from '@plinth/tsdb-model/errors.js';

const MEDIA_TYPE = 'application/x-protobuf';

/**
 * Returns the message that the content type names, or the first one. Missing headers are accepted,
 * as in InfluxDB 1.x, which ignores them. Throws `content_type_unsupported`. Source: tsdb-http,
 * "Prometheus remote write".
 */
export function messageOf<Name extends string>(
  headers: HttpHeaders,
  known: readonly [Name, ...Name[]],
): Name {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'snappy')
    throw unsupported('content encoding', encoding, 'snappy');
  const type = headers['content-type'];
  if (type === undefined) return known[0];
  const [media = '', ...parameters] = type.split(';').map((part) => part.trim());
  if (media.toLowerCase() !== MEDIA_TYPE) throw unsupported('content type', type, MEDIA_TYPE);
  const message = parameters.find((text) => /^proto=/i.test(text))?.slice('proto='.length);
  const found = message === undefined ? known[0] : known.find((name) => name === message);
  if (found === undefined)
    throw unsupported('content type', type, `${MEDIA_TYPE} with proto=${known.join(' or ')}`);
  return found;
}

const unsupported = (what: string, received: string, expected: string): Error =>
  tsdbError('content_type_unsupported', { given: `${what} "${received}"`, expected });
