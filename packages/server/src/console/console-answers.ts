import {
  chooseCoding,
  type HeaderList,
  type HttpAnswer,
  type HttpRequest,
  namesTag,
  textAnswer,
} from '@plinth/kernel';
import type { ConsoleFile } from './console-files.js';

/** What the page may load, run and reach: its own files and the API beside it. Source: docs/CONSOLE.md, "Protection". */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    // The one policy there is makes the address of the worker.
    'trusted-types plinth-worker',
  ].join('; ');

const SAFE: HeaderList = [
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
const NONCE = '__CSP_NONCE__';

/** The shell. It is never kept: each answer has a nonce of its own, for the styles that components add. */
export function shellAnswer(file: ConsoleFile, nonce: string): HttpAnswer {
  const body = Buffer.from(file.plain.toString().replaceAll(NONCE, nonce));
  return {
    status: 200,
    headers: [
      ['content-security-policy', policy(nonce)],
      ...SAFE,
      ['cache-control', 'no-store'],
      ['content-type', file.type],
    ],
    body,
  };
}

/** A file of the build. @param isHashed its name changes with its content. */
export function fileAnswer(
  file: ConsoleFile,
  { headers }: HttpRequest,
  isHashed: boolean,
): HttpAnswer {
  const about: HeaderList = [
    ...SAFE,
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

export const missingAnswer = (why: string): HttpAnswer => textAnswer(404, why, SAFE);
