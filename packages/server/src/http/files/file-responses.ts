import {
  chooseCoding,
  type HeaderList,
  type HttpRequest,
  type HttpResponse,
  namesTag,
  textResponse,
} from '@plinth/kernel';
import type { BuiltFile } from './built-files.js';

/** Headers of all pages and files for browsers. */
export const SAFE: HeaderList = [
  ['x-content-type-options', 'nosniff'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  [
    'permissions-policy',
    'camera=(), geolocation=(), microphone=(), payment=(), usb=(), clipboard-write=(self)',
  ],
];
const FOR_EVER = 'public, max-age=31536000, immutable';
const CODINGS = ['br', 'gzip'] as const;

/** @param isHashed the name changes with the content. @param more additional headers */
export function fileResponse(
  file: BuiltFile,
  { headers }: HttpRequest,
  isHashed: boolean,
  more: HeaderList = [],
): HttpResponse {
  const about: HeaderList = [
    ...SAFE,
    ...more,
    ['cache-control', isHashed ? FOR_EVER : 'no-cache'],
    ['etag', file.etag],
    ['vary', 'Accept-Encoding'],
  ];
  if (namesTag(headers['if-none-match'], file.etag)) {
    return { status: 304, headers: about, body: undefined };
  }
  const made = CODINGS.filter((coding) => file[coding] !== undefined);
  const coding = chooseCoding(headers['accept-encoding'], made) ?? 'identity';
  const coded = coding === 'identity' ? undefined : file[coding];
  return {
    status: 200,
    headers: [
      ...about,
      ...(coded === undefined ? [] : ([['content-encoding', coding]] as const)),
      ['content-type', file.type],
    ],
    body: coded ?? file.plain,
  };
}

export const missingResponse = (why: string): HttpResponse => textResponse(404, why, SAFE);
