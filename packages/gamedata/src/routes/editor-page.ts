import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';

const FILES = {
  '/editor/editor.css': ['editor.css', 'text/css; charset=utf-8'],
  '/editor/editor.js': ['editor.js', 'text/javascript; charset=utf-8'],
  '/editor': ['index.html', 'text/html; charset=utf-8'],
  '/editor/': ['index.html', 'text/html; charset=utf-8'],
} as const;

/** The page runs its own script and speaks to its own server, and nobody may show it inside another page. */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** A page for people who edit by hand. It asks for the token and needs none itself. Source: gamedata, section 6.6. */
export function registerEditorPage(app: FastifyInstance): void {
  for (const [url, [name, type]] of Object.entries(FILES)) {
    const file = new URL(`../../data/editor/${name}`, import.meta.url);
    let text: Promise<Buffer> | undefined;
    app.get(url, async (_request, reply) => {
      text ??= readFile(file);
      return reply.headers({ ...HEADERS, 'content-type': type }).send(await text);
    });
  }
}
