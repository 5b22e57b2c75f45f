import { escapeHtml, type HttpResponse, OpenApi, pageResponse, type Route } from '@plinth/kernel';
import { ERROR_CODES, type ErrorCode } from '../../model/error-codes.js';
import type { VendorWord } from '../../model/platform/vendor-word.js';
import { DOCS_PATH } from '../request-authenticator.js';
import { statusOf } from '../to-wire.js';
import { ERROR_GUIDE } from './error-guide.js';

const MEMBERS: Readonly<Record<'' | 'U' | 'D' | 'UD', string>> = {
  '': '',
  U: 'user_message',
  D: 'doc_url',
  UD: 'user_message, doc_url',
};
const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:48rem;padding:0 1rem}' +
  'h2{font:600 1rem ui-monospace,monospace;margin:2rem 0 0;overflow-wrap:anywhere}' +
  ':target{background:#fff3bf;color:#000}p{margin:.25rem 0}small{opacity:.75}' +
  '@media(prefers-color-scheme:dark){body{background:#111;color:#eee}}';

/**
 * Returns the route of the page that `doc_url` points to, with an anchor for every code. It does
 * not require a key.
 */
export function guideRoute({ vendorWord }: { readonly vendorWord: VendorWord }): Route {
  let response: HttpResponse | undefined;
  return {
    method: 'GET',
    path: `${DOCS_PATH}/errors`,
    access: 'public',
    about: { summary: 'HTML page that explains every error code' },
    output: { 200: OpenApi.response('the page', OpenApi.html) },
    hasHead: false,
    handle() {
      response ??= pageResponse(Buffer.from(renderPage(vendorWord)));
      return response;
    },
  };
}

function renderPage(vendorWord: VendorWord): string {
  const codes = Object.keys(ERROR_GUIDE) as ErrorCode[]; // the keys are the error codes
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    `<title>Error codes of accounts</title><style>${STYLE}</style>`,
    '<h1>Error codes of accounts</h1>',
    '<p>A rejected request changes nothing. Its body is <code>{"error": {…}}</code> with <code>code</code> and ',
    '<code>message</code>; <code>param</code> names the field.</p>',
    ...codes.map((code) => renderCode(code, vendorWord)),
    '</html>',
  ].join('\n');
}

function renderCode(code: ErrorCode, vendorWord: VendorWord): string {
  const shown = vendorWord.toWire(code);
  const members = MEMBERS[ERROR_CODES[code]];
  const more = members === '' ? '' : `, with ${members}`;
  return [
    `<h2 id="${shown}">${shown}</h2>`,
    `<p><small>status ${statusOf(code)}${more}</small></p>`,
    `<p>${escapeHtml(vendorWord.toWire(ERROR_GUIDE[code]))}</p>`,
  ].join('');
}
