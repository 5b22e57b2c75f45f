import { hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { HttpAnswer, HttpRequest } from '@plinth/kernel';
import { BuiltFiles } from '../files/built-files.js';
import { fileAnswer } from '../files/file-answers.js';

/** Where `npm run docs` leaves it; a release has it there, too. */
const FOLDER = fileURLToPath(new URL('../../../../../docs/site/dist', import.meta.url));
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>(.*?)<\/script>/gs;

/** The pages of `docs/` as they are built for browsers: not every checkout has them. */
export class DocumentationSite {
  readonly #files = new BuiltFiles(FOLDER);
  #policy: string | undefined;

  /** `undefined`: there is no such page or file. @param name of it below `/docs/` */
  async answer(name: string, request: HttpRequest): Promise<HttpAnswer | undefined> {
    const file = await this.#files.find(
      name === '' || name.endsWith('/') ? `${name}index.html` : name,
    );
    if (file === undefined) return undefined;
    if (!file.type.startsWith('text/html')) {
      return fileAnswer(file, request, name.startsWith('assets/'));
    }
    this.#policy ??= policyFor(file.plain.toString());
    return fileAnswer(file, request, false, [['content-security-policy', this.#policy]]);
  }
}

/**
 * What a page may run and reach. The generator puts the same two scripts into each page, which choose its colours before it
 * is shown: they are let in by their content. Colours of code are attributes. Source: docs/SECURITY-NETWORK.md, "Browsers".
 */
function policyFor(page: string): string {
  const scripts = [...page.matchAll(INLINE_SCRIPT)].map(
    ([, text = '']) => `'sha256-${hash('sha256', text, 'base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.join(' ')}`.trimEnd(),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
