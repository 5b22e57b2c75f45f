import { createHash } from 'node:crypto';
import {
  bytesResponse,
  emptyResponse,
  type HeaderList,
  type HttpHead,
  type HttpResponse,
  namesTag,
} from '@plinth/kernel';

/** Returns JSON with an `ETag`, or 304 if the client already has this version. */
export function cachedResponse(
  request: HttpHead,
  body: Buffer,
  options: {
    readonly isPrivate: boolean;
    /** SHA-256 of the body in hex. */
    readonly digest?: string;
    readonly headers?: HeaderList;
  },
): HttpResponse {
  const { digest = createHash('sha256').update(body).digest('hex') } = options;
  const etag = `W/"${digest}"`;
  const headers: HeaderList = [
    ...(options.headers ?? []),
    ['etag', etag],
    [
      'cache-control',
      options.isPrivate ? 'private, max-age=0, must-revalidate' : 'public, max-age=60, s-maxage=60',
    ],
  ];
  if (namesTag(request.headers['if-none-match'], etag)) return emptyResponse(304, headers);
  return bytesResponse(200, 'application/json; charset=utf-8', body, headers);
}
