import fs from 'node:fs';
import path from 'node:path';

const PAGE = /\.(?:md|json)$/;
/** Matches a Markdown link, with its text and target. */
const LINK = /\[([^\]]*)\]\(([^)\s]+)\)/g;
/** Matches links to `packaging/`. The archive contains those files in `share/`. */
const SHARED = /^\.\.\/packaging\/(prometheus|grafana)/;

/**
 * Copies the pages of `docs/` into the archive folder, and the installation page to its top level, where users expect it. Links to files
 * outside the archive become plain text.
 */
export function copyPages(docs, folder) {
  const pages = fs
    .readdirSync(docs, { recursive: true })
    .map((name) => name.split(path.sep).join('/'))
    .filter((name) => PAGE.test(name) && !name.startsWith('site/'));
  const shipped = new Set(pages);
  for (const name of pages) {
    const target = path.join(folder, 'docs', name);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    const text = fs.readFileSync(path.join(docs, name), 'utf8');
    fs.writeFileSync(target, name.endsWith('.md') ? linked(text, name, shipped) : text);
  }
  const install = fs.readFileSync(path.join(folder, 'docs', 'INSTALL.md'), 'utf8');
  const fromTop = install.replace(LINK, (link, text, href) =>
    isLocal(href) ? `[${text}](${path.posix.join('docs', href)})` : link,
  );
  fs.writeFileSync(path.join(folder, 'INSTALL.md'), fromTop);
}

function linked(text, name, shipped) {
  const folder = path.posix.dirname(name);
  return text.replace(LINK, (link, label, href) => {
    if (!isLocal(href)) return link;
    if (SHARED.test(href)) return `[${label}](${href.replace(SHARED, '../share/$1')})`;
    const target = path.posix.join(folder, href.replace(/#.*/, ''));
    const isShipped = shipped.has(target) || [...shipped].some((page) => page.startsWith(target));
    return isShipped && !target.startsWith('..') ? link : label;
  });
}

const isLocal = (href) => !/^(?:[a-z]+:|#|\/)/.test(href);
