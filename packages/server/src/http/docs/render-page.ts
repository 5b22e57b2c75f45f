import { escapeHtml } from '@plinth/kernel';

export interface PageLink {
  readonly path: string;
  readonly title: string;
}

/** The displayed part of an OpenAPI description. */
export type DescribedPaths = Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;

interface DescribedOperation {
  readonly summary?: string;
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:48rem;padding:0 1rem}' +
  'code{font:14px ui-monospace,monospace;overflow-wrap:anywhere}dt{margin-top:1rem}dd{margin:0}small{opacity:.75}' +
  ':target{background:#fff3bf;color:#000}nav a{margin-right:1rem}' +
  '@media(prefers-color-scheme:dark){body{background:#111;color:#eee}a{color:#8ab4f8}}';

/** @param page `content` is HTML; links are relative, because clients may use any host name. */
export function renderPage(page: {
  readonly title: string;
  readonly links: readonly PageLink[];
  readonly content: string;
}): string {
  const links = page.links.map(({ path, title }) => `<a href="${path}">${escapeHtml(title)}</a>`);
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    `<title>${escapeHtml(page.title)}</title><style>${STYLE}</style>`,
    `<nav>${links.join(' ')}</nav><h1>${escapeHtml(page.title)}</h1>`,
    page.content,
    '</html>',
  ].join('\n');
}

/** Lists the operations in order, each with the anchor that `documentation_url` uses. */
export function listOperations(paths: DescribedPaths): string {
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => renderOperation(method, path, about)),
  );
  return `<dl>${entries.join('\n')}</dl>`;
}

function renderOperation(method: string, path: string, about: DescribedOperation): string {
  const anchor = about.operationId === undefined ? '' : ` id="${escapeHtml(about.operationId)}"`;
  const query = (about.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const names = query.map(({ name }) => `<code>${escapeHtml(name)}</code>`).join(', ');
  const parameters = names === '' ? '' : `<br><small>Parameters: ${names}</small>`;
  const head = `<dt${anchor}><code>${method.toUpperCase()} ${escapeHtml(path)}</code></dt>`;
  return `${head}<dd>${escapeHtml(about.summary ?? '')}${parameters}</dd>`;
}
