import { bytesResponse, type HeaderList, type HttpResponse } from './http-response.js';

/** The page runs no scripts, loads nothing, and cannot be framed. */
const HEADERS: HeaderList = [
  [
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  ],
];
const SAFE: HeaderList = [['x-content-type-options', 'nosniff']];

/** Escapes text for a page or an attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/**
 * Creates an HTML page without scripts.
 * @param more further headers; by default the headers that API conventions without pages do not set.
 */
export const pageResponse = (html: Buffer, more: HeaderList = SAFE): HttpResponse =>
  bytesResponse(200, 'text/html; charset=utf-8', html, [...HEADERS, ...more]);
