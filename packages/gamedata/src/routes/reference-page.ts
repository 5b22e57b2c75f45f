import { type ApiDescription, escapeHtml } from '@plinth/kernel';

interface Described {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    name: string;
    in: string;
    description?: string;
    schema: object;
  }[];
}

const STYLE = `
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.6rem}h2{margin-top:2.5rem;text-transform:capitalize;border-bottom:1px solid #d5dae0}
details{margin:.4rem 0;border:1px solid #d5dae0;border-radius:6px;padding:.5rem .8rem}
summary{cursor:pointer}code{font:14px ui-monospace,monospace}b{display:inline-block;min-width:4.2rem}
table{border-collapse:collapse;margin:.6rem 0;width:100%}td{padding:.2rem .6rem .2rem 0;vertical-align:top;border-top:1px solid #eceff2}
.lock{color:#8a5a00}@media(prefers-color-scheme:dark){body{background:#14171a;color:#e4e7ea}details,h2{border-color:#3a4148}td{border-color:#2a3036}a{color:#8ab4f8}}`;

/** Renders the OpenAPI description as HTML, without scripts or external resources. */
export function referencePage({ info, paths }: ApiDescription): string {
  const byTag = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries<Described>(methods)) {
      const tag = operation.tags?.[0] ?? 'other';
      byTag.set(tag, [...(byTag.get(tag) ?? []), section(path, method, operation)]);
    }
  }
  const sections = [...byTag].map(([tag, parts]) => `<h2>${escapeHtml(tag)}</h2>${parts.join('')}`);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(info.title)}</title><style>${STYLE}</style></head><body><h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1><p>${escapeHtml(info.description)} For programs: <a href="/api/openapi.json">openapi.json</a>, <a href="/api/schemas">JSON Schemas</a>, <a href="/api/bulk">complete files</a>.</p>${sections.join('')}</body></html>`;
}

function section(path: string, method: string, operation: Described): string {
  const rows = (operation.parameters ?? []).map(({ name, in: place, description, schema }) => {
    const { type, minimum, maximum } = schema as {
      type?: string;
      minimum?: number;
      maximum?: number;
    };
    const range = minimum === undefined ? '' : ` ${minimum}..${maximum ?? ''}`;
    return `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(place)}</td><td>${escapeHtml(`${type ?? ''}${range}`)}</td><td>${escapeHtml(description ?? '')}</td></tr>`;
  });
  const needsToken = (operation.security ?? []).length > 0;
  const lock = needsToken ? ' <span class="lock">token</span>' : '';
  const example =
    method === 'get' && !path.includes('{') && !needsToken
      ? ` <a href="${escapeHtml(path)}">try</a>`
      : '';
  return `<details><summary><b>${method.toUpperCase()}</b><code>${escapeHtml(path)}</code> ${escapeHtml(operation.summary ?? '')}${lock}${example}</summary>${rows.length === 0 ? '' : `<table>${rows.join('')}</table>`}</details>`;
}
