import { readFile } from 'node:fs/promises';
import { bytesAnswer, type HeaderList, type Route } from '@plinth/kernel';
import { pageWords } from './openapi/words.js';

const FILES = {
  '/editor/editor.css': ['editor.css', 'text/css; charset=utf-8'],
  '/editor/editor.js': ['editor.js', 'text/javascript; charset=utf-8'],
  '/editor': ['index.html', 'text/html; charset=utf-8'],
  '/editor/': ['index.html', 'text/html; charset=utf-8'],
} as const;

/**
 * The page may run only its own script and call only its own server. Other pages must not embed it.
 */
const HEADERS: HeaderList = [
  [
    'content-security-policy',
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ['cache-control', 'no-cache'],
  ['referrer-policy', 'no-referrer'],
];

/**
 * A web page for manual editing. It prompts for the token and is itself public. Source: gamedata,
 * section 6.6.
 */
export const editorPageRoutes = (): readonly Route[] =>
  Object.entries(FILES).map(([path, [name, type]]) => {
    const file = new URL(`../../data/editor/${name}`, import.meta.url);
    let text: Promise<Buffer> | undefined;
    return {
      method: 'GET',
      path,
      access: 'public',
      ...pageWords('Editor page', type.split(';', 1)[0]),
      isAlias: path === '/editor/',
      async handle() {
        text ??= readFile(file);
        return bytesAnswer(200, type, await text, HEADERS);
      },
    };
  });
