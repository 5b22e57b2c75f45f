#!/usr/bin/env node
// sources.mjs [folder]   checks that the sections cited in comments exist. `webhooks, section 8.1` is a heading of docs/spec/webhooks.md,
// and `docs/ARCHITECTURE.md, "Layers"` a heading of that page. Part of `npm run check`.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './lib/root.mjs';

const top = process.argv[2] ?? root;
const FOLDERS = ['packages', 'tests', 'bench', 'examples', 'scripts'];
const KINDS = /\.(?:[cm]?[jt]s|tsx|py|sql|influxql)$/;
/** Matches documents outside the repository, which readers do not have. */
const OUTSIDE =
  /(?<!\/)\b(?:architecture(?=[,;:]| \d)|house style|requirement document|checklist\b)/;
const UNKNOWN = /Source: ([a-z][a-z-]+),? (?:section|§)/g;

const pages = fs.readdirSync(path.join(top, 'docs', 'spec')).filter((page) => page !== 'README.md');
const names = pages.map((page) => path.basename(page, '.md'));
/** References to one page: `section 8.1`, `§7.5`, `sections 2.1 to 2.5 and 3`, `"Tables" (names) and "Tokens"`. */
const NUMBER = String.raw`\d+(?:\.\d+)*`;
const NOTE = String.raw`(?: \([^()]*\))?`;
const SECTION = `(?:(?:sections? |§)${NUMBER}|"[^"]+")${NOTE}`;
const NEXT = `(?:,|,? and| to) (?:${SECTION}|${NUMBER}${NOTE})`;
const PAGE = String.raw`(?<![\w/-])(?:(${names.join('|')})(?:\.md)?|((?:docs/[\w/-]+|[A-Z]{5,})\.md))`;
const CITED = new RegExp(`${PAGE},? (${SECTION}(?:${NEXT})*)`, 'g');

const headings = new Map();
const problems = FOLDERS.flatMap((name) => listFiles(path.join(top, name))).flatMap(checkFile);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

function checkFile(file) {
  // Joins the lines of each comment.
  const text = fs.readFileSync(file, 'utf8').replaceAll(/\n\s*(?:\*(?!\/)|\/\/|#|--) ?/g, ' ');
  const sources = [...text.matchAll(/Source: ((?:(?!\*\/).)*)/g)].map(([, source]) => source);
  return [
    ...sources.filter((source) => OUTSIDE.test(source)).map((source) => `cites ${source}`),
    ...[...text.matchAll(UNKNOWN)]
      .filter(([, name]) => !names.includes(name))
      .map(([, name]) => `docs/spec/${name}.md does not exist`),
    ...[...text.matchAll(CITED)].flatMap(([, name, page, sections]) =>
      checkSections(page ?? `docs/spec/${name}.md`, sections.replaceAll(/\([^()]*\)/g, '')),
    ),
  ].map((problem) => `${path.relative(top, file)}: ${problem}`);
}

function checkSections(page, sections) {
  const known = headingsOf(page);
  if (known === undefined) return [`${page} does not exist`];
  return [...sections.matchAll(new RegExp(`"([^"]+)"|(${NUMBER})`, 'g'))]
    .map(([, title, number]) => title ?? number)
    .filter((section) => !known.has(section))
    .map((section) => `${page} has no section ${section}`);
}

/** Returns the numbers and titles of a page's headings, or `undefined` if the page does not exist. */
function headingsOf(page) {
  const file = path.join(top, page);
  if (!headings.has(page) && fs.existsSync(file)) {
    const lines = fs.readFileSync(file, 'utf8').matchAll(/^#+ (?:(\d+(?:\.\d+)*)\.? )?(.*)$/gm);
    headings.set(page, new Set([...lines].flatMap(([, number, title]) => [number, title])));
  }
  return headings.get(page);
}

function listFiles(from) {
  if (!fs.existsSync(from)) return [];
  return fs.readdirSync(from, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(from, entry.name);
    if (entry.isDirectory())
      return /^(?:dist|node_modules)$/.test(entry.name) ? [] : listFiles(file);
    return KINDS.test(entry.name) ? [file] : [];
  });
}
