#!/usr/bin/env node
// changelog.mjs [file]   checks the format of CHANGELOG.md: the order of versions, groups and services, and one line for each change.
// Part of `npm run check`.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './lib/root.mjs';

const GROUPS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
const SERVICES = [
  ...['Server', 'Tokens', 'Commands', 'Time series', 'Accounts', 'Webhooks', 'Limits'],
  ...['Game data', 'Console', 'Release'],
];
const MAX_LINE_LENGTH = 170;
const UNRELEASED = '## [Unreleased]';
const VERSION = /^## \[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d{2}-\d{2})$/;

const file = process.argv[2] ?? path.join(root, 'CHANGELOG.md');
const problems = [];
check(fs.readFileSync(file, 'utf8').trimEnd().split('\n'));
for (const problem of problems) console.error(`${path.basename(file)}:${problem}`);
if (problems.length > 0) process.exitCode = 1;

function check(lines) {
  if (lines[0] !== '# Changelog') problems.push('1: the first line must be "# Changelog"');
  const headings = lines.flatMap((text, index) =>
    text.startsWith('## ') ? [{ text, index }] : [],
  );
  if (headings[0]?.text !== UNRELEASED)
    problems.push(`1: the first heading must be "${UNRELEASED}"`);
  let above;
  headings.slice(1).forEach(({ text, index }) => {
    const [, major, minor, patch, day] = VERSION.exec(text) ?? [];
    if (day === undefined || new Date(day).toJSON()?.slice(0, 10) !== day) {
      problems.push(
        `${index + 1}: invalid version heading "${text}"; use "## [1.2.3] - 2026-01-31"`,
      );
      return;
    }
    const version = [major, minor, patch].map(Number);
    if (above !== undefined && compare(above, version) <= 0) {
      problems.push(`${index + 1}: the newest version comes first`);
    }
    above = version;
  });
  headings.forEach(({ text, index }, at) => {
    const end = headings[at + 1]?.index ?? lines.length;
    checkVersion(lines, { from: index + 1, end, isOpen: text === UNRELEASED });
  });
}

/** @param isOpen allows longer lines, and unsorted lines before the first group. */
function checkVersion(lines, { from, end, isOpen }) {
  let group = -1;
  let service = 0;
  const seen = new Set();
  for (let index = from; index < end; index++) {
    const line = lines[index];
    const report = (why) => problems.push(`${index + 1}: ${why}`);
    if (line === '') continue;
    if (line.startsWith('### ')) {
      const found = GROUPS.indexOf(line.slice(4));
      if (found < 0) report(`a group is one of ${GROUPS.join(', ')}`);
      else if (found <= group) report(`groups come once and in this order: ${GROUPS.join(', ')}`);
      group = Math.max(group, found);
      service = 0;
      continue;
    }
    if (group < 0 && isOpen) {
      if (!/^(?:- | {2})\S/.test(line))
        report('a new line is "- what changed", and goes on behind two spaces');
      continue;
    }
    const [, name, text] = /^- ([A-Z][a-z ]+): (\S.*)$/.exec(line) ?? [];
    const found = SERVICES.indexOf(name ?? '');
    if (group < 0 || found < 0 || text === undefined) {
      report(
        `a line below a group is "- SERVICE: what changed", SERVICE one of ${SERVICES.join(', ')}`,
      );
      continue;
    }
    if (found < service) report(`${name} comes before ${SERVICES[service]}`);
    service = Math.max(service, found);
    if (line.length > MAX_LINE_LENGTH)
      report(`${line.length} characters, at most ${MAX_LINE_LENGTH}`);
    if (seen.has(line)) report('duplicate of a line above');
    seen.add(line);
  }
}

function compare(a, b) {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : a[at] - b[at];
}
