#!/usr/bin/env node
// words.mjs            checks that no term of lib/word-lists.mjs is used more often than lib/word-ceilings.json allows
// words.mjs --list [word ...]   prints each use as file:line, for all terms or the given ones
// words.mjs --lower    lowers the ceilings to the current number of uses; never raises one
//   --root FOLDER      checks another repository
// Part of `npm run check`. Strings that a protocol fixes are in lib/word-exceptions.mjs.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './lib/root.mjs';
import { partsOfSource, textOfPage } from './lib/text-parts.mjs';
import { EXCEPTIONS } from './lib/word-exceptions.mjs';
import { NAME_TERMS, TEXT_TERMS } from './lib/word-lists.mjs';

const { values: flags, positionals: terms } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    lower: { type: 'boolean' },
    root: { type: 'string', default: root },
  },
});
const top = flags.root;
const CEILINGS = path.join(top, 'scripts', 'lib', 'word-ceilings.json');
const PAGE = /\.md$/;
const SOURCE = /\.(?:ts|tsx|cts|mjs|cjs|py)$/;
const TEST = /\.test\.ts$|^tests\/|^packages\/[^/]+\/test\//;
const OWN = /^scripts\/lib\/word-/;

/** @type {{kind: string, term: string, instead: string, file: string, line: number, text: string}[]} */
const uses = [];
for (const file of trackedFiles()) {
  if (OWN.test(file) || EXCEPTIONS.files.some(([pattern]) => pattern.test(file))) continue;
  const content = fs.readFileSync(path.join(top, file), 'utf8');
  if (PAGE.test(file)) {
    collect('page', TEXT_TERMS, file, textOfPage(unreleasedOnly(file, content)));
  } else if (SOURCE.test(file)) {
    const { comments, strings, names } = partsOfSource(content);
    collect('comment', TEXT_TERMS, file, comments);
    // Tests repeat the names and strings of the code that they test.
    if (TEST.test(file)) continue;
    collect('string', TEXT_TERMS, file, strings);
    collect('name', NAME_TERMS, file, names);
  }
}

const counts = countUses();
if (flags.list) list(terms);
else if (flags.lower) lower();
else check();

/** Includes uncommitted files. */
function trackedFiles() {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: top });
  const files = String(listed).split('\n').filter(Boolean);
  return files.filter((file) => fs.existsSync(path.join(top, file)));
}

/** Excludes changelog entries of released versions, which do not change. */
function unreleasedOnly(file, content) {
  if (file !== 'CHANGELOG.md') return content;
  const released = /^## \[\d/m.exec(content);
  return released === null ? content : content.slice(0, released.index);
}

function collect(kind, list, file, parts) {
  for (const { line, text } of parts) {
    const rest = EXCEPTIONS.texts.reduce((kept, [fixed]) => kept.replaceAll(fixed, ''), text);
    for (const [term, pattern, instead] of list) {
      const all = new RegExp(pattern, kind === 'name' ? 'g' : 'gi');
      for (const { index } of rest.matchAll(all)) {
        const at = line + rest.slice(0, index).split('\n').length - 1;
        uses.push({ kind, term, instead, file, line: at, text: around(rest, index) });
      }
    }
  }
}

function around(text, index) {
  return text
    .slice(Math.max(0, index - 40), index + 60)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** @returns the sorted number of uses by kind and term. */
function countUses() {
  const found = {};
  for (const kind of ['page', 'comment', 'string', 'name']) found[kind] = {};
  for (const { kind, term } of uses) found[kind][term] = (found[kind][term] ?? 0) + 1;
  return found;
}

function readCeilings() {
  return JSON.parse(fs.readFileSync(CEILINGS, 'utf8'));
}

function check() {
  const ceilings = readCeilings();
  let problems = 0;
  for (const [kind, found] of Object.entries(counts)) {
    for (const [term, count] of Object.entries(found)) {
      const ceiling = ceilings[kind]?.[term] ?? 0;
      if (count <= ceiling) continue;
      problems += 1;
      const instead = uses.find((use) => use.term === term)?.instead;
      console.error(`${kind}: "${term}" ${count} times, at most ${ceiling}; write: ${instead}`);
    }
  }
  console.error(`words: ${uses.length} uses of banned terms remain`);
  if (problems === 0) return;
  console.error('words: run node scripts/words.mjs --list TERM to see each use');
  process.exitCode = 1;
}

function list(wanted) {
  for (const { kind, term, file, line, text } of uses) {
    if (wanted.length > 0 && !wanted.includes(term)) continue;
    console.log(`${file}:${line}: ${kind} "${term}": ${text}`);
  }
}

function lower() {
  const before = fs.existsSync(CEILINGS) ? readCeilings() : undefined;
  const lowered = {};
  for (const [kind, found] of Object.entries(counts)) {
    const entries = Object.entries(found).map(([term, count]) => [
      term,
      Math.min(count, before?.[kind]?.[term] ?? (before === undefined ? count : 0)),
    ]);
    lowered[kind] = Object.fromEntries(entries.filter(([, count]) => count > 0).sort());
  }
  fs.writeFileSync(CEILINGS, `${JSON.stringify(lowered, undefined, 2)}\n`);
}
