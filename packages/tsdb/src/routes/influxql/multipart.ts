import { tsdbError } from '@plinth/tsdb-model/errors.js';

const CRLF = Buffer.from('\r\n');
const HEADERS_END = Buffer.from('\r\n\r\n');

/**
 * Returns the fields of a multipart form. Files count as fields (`curl -F "q=<file"`). Source: RFC
 * 7578.
 */
export function multipartFields(body: Buffer, contentType: string): Record<string, string> {
  const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const text = boundary?.[1] ?? boundary?.[2];
  if (text === undefined)
    throw tsdbError('parameter_invalid', 'invalid multipart form: no boundary');
  const mark = Buffer.from(`--${text}`);
  const fields: Record<string, string> = Object.create(null) as Record<string, string>;
  let start = body.indexOf(mark);
  while (start >= 0) {
    const from = start + mark.length;
    // Two dashes after the boundary end the form.
    if (body.subarray(from, from + 2).toString() === '--') return fields;
    const next = body.indexOf(mark, from);
    if (next < 0) break;
    const part = body.subarray(from + CRLF.length, next - CRLF.length);
    const headersEnd = part.indexOf(HEADERS_END);
    if (headersEnd < 0) break;
    const name = /content-disposition:[^\r]*\bname="([^"]*)"/i.exec(
      part.subarray(0, headersEnd).toString(),
    )?.[1];
    if (name !== undefined)
      fields[name] = part.subarray(headersEnd + HEADERS_END.length).toString();
    start = next;
  }
  throw tsdbError('parameter_invalid', 'invalid multipart form: missing closing boundary');
}
