import { bytesAnswer, type HeaderList, type HttpAnswer } from './http-answer.js';

/** It runs and loads nothing, and stands in no other page. */
const HEADERS: HeaderList = [
  [
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  ],
];
const SAFE: HeaderList = [['x-content-type-options', 'nosniff']];

/** As text within a page or one of its attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);

/** A page for people, without scripts. @param more headers; by default those that a dialect of pages alone does not say. */
export const pageAnswer = (html: Buffer, more: HeaderList = SAFE): HttpAnswer =>
  bytesAnswer(200, 'text/html; charset=utf-8', html, [...HEADERS, ...more]);
