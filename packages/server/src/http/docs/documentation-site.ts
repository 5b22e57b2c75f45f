import { hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { HttpRequest, HttpResponse } from '@plinth/kernel';
import { BuiltFiles } from '../files/built-files.js';
import { fileResponse } from '../files/file-responses.js';

/** Output folder of `npm run docs`, also in releases. */
const FOLDER = fileURLToPath(new URL('../../../../../docs/site/dist', import.meta.url));
const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>(.*?)<\/script>/gs;

/** The built documentation site; missing in some checkouts. */
export class DocumentationSite {
  readonly #files = new BuiltFiles(FOLDER);
  #policy: string | undefined;

  /**
   * Returns the page or file; `undefined` if it is unknown.
   * @param name path below `/docs/`
   */
  async respond(name: string, request: HttpRequest): Promise<HttpResponse | undefined> {
    const file = await this.#files.find(
      name === '' || name.endsWith('/') ? `${name}index.html` : name,
    );
    if (file === undefined) return undefined;
    if (!file.type.startsWith('text/html')) {
      return fileResponse(file, request, name.startsWith('assets/'));
    }
    this.#policy ??= policyFor(file.plain.toString());
    return fileResponse(file, request, false, [['content-security-policy', this.#policy]]);
  }
}

/**
 * Returns the content security policy of a page. The generator embeds two scripts that set the color scheme early,
 * which are allowed by hash. Code colors are style attributes. Source: docs/SECURITY-NETWORK.md, "Browsers".
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
