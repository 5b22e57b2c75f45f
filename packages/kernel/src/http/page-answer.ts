import { bytesAnswer, type HeaderList, type HttpAnswer } from './http-answer.js';

/** It runs and loads nothing, stands in no other page, and is taken for nothing but what it is. */
const HEADERS: HeaderList = [
  [
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  ],
  ['x-content-type-options', 'nosniff'],
];

/** As text within a page or one of its attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** A page for people, without scripts. @param more headers, in the place of ours where they have the same name. */
export function pageAnswer(html: Buffer, more: HeaderList = []): HttpAnswer {
  const own = HEADERS.filter(([name]) => !more.some(([other]) => other === name));
  return bytesAnswer(200, 'text/html; charset=utf-8', html, [...own, ...more]);
}
