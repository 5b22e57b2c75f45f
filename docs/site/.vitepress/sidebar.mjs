import fs from 'node:fs';

const DOCS = new URL('../../', import.meta.url);
/** A page in a list of docs/README.md. */
const PAGE = /^- \[[^\]]*\]\(([A-Z][A-Z0-9-]*)\.md\)/gm;

/** The page's own title. */
const page = (name) => {
  const [, title] = /^# (.*)$/m.exec(fs.readFileSync(new URL(`${name}.md`, DOCS), 'utf8'));
  return { text: title, link: `/${name.replace(/README$/, '')}` };
};
const folder = (text, name) => {
  const files = fs.readdirSync(new URL(name, DOCS)).filter((file) => file.endsWith('.md'));
  const first = files.filter((file) => file === 'README.md');
  const names = [...first, ...files.filter((file) => file !== 'README.md').sort()];
  const items = names.map((file) => page(`${name}/${file.slice(0, -3)}`));
  return { text, collapsed: true, items };
};
const FOLDERS = {
  Reference: [folder('Protocol specifications', 'spec'), folder('File formats', 'formats')],
  Concepts: [folder('Decisions', 'adr')],
};

const groups = fs.readFileSync(new URL('README.md', DOCS), 'utf8').split(/^## /m).slice(1);

/** The groups of docs/README.md in its order, and the pages of folders below them. */
export const sidebar = groups.map((group) => {
  const text = group.slice(0, group.indexOf('\n'));
  const names = [...group.matchAll(PAGE)].map(([, name]) => name);
  // The build reports links to pages that do not exist.
  const known = names.filter((name) => fs.existsSync(new URL(`${name}.md`, DOCS)));
  return { text, collapsed: false, items: [...known.map(page), ...(FOLDERS[text] ?? [])] };
});
