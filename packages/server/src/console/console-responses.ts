import type { HttpResponse } from '@plinth/kernel';
import type { BuiltFile } from '../http/files/built-files.js';
import { SAFE } from '../http/files/file-responses.js';

/**
 * Returns the content security policy: the page loads only its own files and the API. Source:
 * docs/CONSOLE-INTERNALS.md, "Protection".
 */
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
    // The only Trusted Types policy creates the worker URL.
    'trusted-types plinth-worker',
  ].join('; ');

const NONCE = '__CSP_NONCE__';
const OPENED_FROM = '__OPENED_FROM__';

/** Returns the HTML shell. It is never cached: each response has its own nonce for component styles. */
export function shellResponse(
  file: BuiltFile,
  options: { readonly nonce: string; readonly openedFrom: 'here' | 'elsewhere' },
): HttpResponse {
  const text = file.plain.toString().replaceAll(NONCE, options.nonce);
  const body = Buffer.from(text.replace(OPENED_FROM, options.openedFrom));
  return {
    status: 200,
    headers: [
      ['content-security-policy', policy(options.nonce)],
      ...SAFE,
      ['cache-control', 'no-store'],
      ['content-type', file.type],
    ],
    body,
  };
}
