import type { HttpAnswer } from '@plinth/kernel';
import type { BuiltFile } from '../http/files/built-files.js';
import { SAFE } from '../http/files/file-answers.js';

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

const NONCE = '__CSP_NONCE__';

/** The shell. It is never kept: each answer has a nonce of its own, for the styles that components add. */
export function shellAnswer(file: BuiltFile, nonce: string): HttpAnswer {
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
