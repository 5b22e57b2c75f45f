import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { PluginFolder } from './plugin-folder.js';

const MAX_FILE_COUNT = 50;
const MAX_FILE_SIZE_BYTES = 1024 * 1024;

/** Options allowed at the start of a line. Source: pip, "Requirements File Format". */
const OPTIONS: ReadonlySet<string> = new Set([
  ...['-i', '--index-url', '--extra-index-url', '--no-index', '--trusted-host'],
  ...['-r', '--requirement', '-c', '--constraint', '-e', '--editable', '-f', '--find-links'],
  ...[
    '--no-binary',
    '--only-binary',
    '--prefer-binary',
    '--require-hashes',
    '--pre',
    '--use-feature',
  ],
]);
/** All line separators of Python, so that no line is hidden in another. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters.
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
const NESTED: ReadonlySet<string> = new Set(['-r', '--requirement', '-c', '--constraint']);
/**
 * Matches a line that makes the installer decode the file with a different encoding than this
 * server.
 */
const OTHER_ENCODING = /^#.*?coding[:=]\s*(?!utf-?8(?![-\w.]))[-\w.]/i;

/**
 * Returns the path of a requirements file after checking it and every file that it refers to.
 * Installers quote lines of these files, so none may be outside of the plugin folder. Messages
 * contain the file and the line number, never the line.
 * Throws `plugin_path_escapes`, `requirements_missing`, `requirements_refused`.
 */
export async function findRequirements(folder: PluginFolder, location: string): Promise<string> {
  const first = await folder.pathOf(location);
  if ((await folder.realPathWithin(first)) === undefined) {
    throw tsdbError('requirements_missing', { path: location });
  }
  const waiting = [first];
  const seen = new Set<string>();
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const name = relative(folder.root, path);
    if (seen.size >= MAX_FILE_COUNT) {
      throw tsdbError(
        'requirements_refused',
        `the requirements include more than ${MAX_FILE_COUNT} files; combine some files`,
      );
    }
    seen.add(path);
    for (const { target, lineNumber } of filesNamedIn(await readText(path, name), name)) {
      // Resolve the name like the installer, so that no link leads to another file.
      const named = isAbsolute(target) ? target : `${dirname(path)}/${target}`;
      if ((await folder.realPathWithin(named)) === undefined) {
        throw refusal(name, lineNumber, 'the file is not in the plugin directory');
      }
      // References in this file are relative to its name, not to the target of a link.
      const place = join(await realpath(dirname(named)), basename(named));
      if (!seen.has(place) && !waiting.includes(place)) waiting.push(place);
    }
  }
  return first;
}

async function readText(path: string, name: string): Promise<string> {
  const { size, isFile } = await stat(path).then((s) => ({ size: s.size, isFile: s.isFile() }));
  if (!isFile) throw tsdbError('requirements_refused', `${name} is not a regular file`);
  if (size > MAX_FILE_SIZE_BYTES) {
    throw tsdbError('requirements_refused', `${name} is larger than ${MAX_FILE_SIZE_BYTES} bytes`);
  }
  const bytes = await readFile(path);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const isPlain =
      !text.includes('\0') && !text.split('\n', 2).some((line) => OTHER_ENCODING.test(line));
    if (isPlain) return text;
  } catch {
    // reported below
  }
  throw tsdbError('requirements_refused', `${name} is not valid UTF-8 text`);
}

/** Returns the files that the text makes the installer read, except URLs. */
function filesNamedIn(
  text: string,
  name: string,
): readonly { readonly target: string; readonly lineNumber: number }[] {
  return logicalLines(text).flatMap(({ line, lineNumber }) => {
    const found: { target: string; lineNumber: number }[] = [];
    if (!line.startsWith('-')) return found;
    // Only these characters make shell-like parsing differ from splitting at spaces.
    if (/["'\\]/.test(line)) {
      throw refusal(name, lineNumber, 'quotes and backslashes are not supported in options');
    }
    const words = line.split(/\s+/);
    for (const [index, word] of words.entries()) {
      if (!word.startsWith('-')) continue;
      const [option, attached] = takeApart(word);
      if (!OPTIONS.has(option)) throw refusal(name, lineNumber, 'unknown option');
      const target = attached ?? words[index + 1];
      if (!NESTED.has(option) || target === undefined) continue;
      if (target.includes('${')) {
        throw refusal(name, lineNumber, 'variables are not supported in file names');
      }
      if (!/^https?:\/\//i.test(target)) found.push({ target, lineNumber });
    }
    return found;
  });
}

/** Splits `-rfile` and `--requirement=file`; other words are returned unchanged. */
function takeApart(word: string): readonly [option: string, attached: string | undefined] {
  const equals = word.indexOf('=');
  if (word.startsWith('--')) {
    return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
  }
  return word.length > 2 ? [word.slice(0, 2), word.slice(2)] : [word, undefined];
}

/**
 * Joins lines that end in a backslash and removes comments. Each line has the number of its first
 * part.
 */
function logicalLines(
  text: string,
): readonly { readonly line: string; readonly lineNumber: number }[] {
  const joined: { line: string; lineNumber: number }[] = [];
  let open: { line: string; lineNumber: number } | undefined;
  for (const [index, piece] of text.split(LINE_END).entries()) {
    const isComment = /^\s*#/.test(piece);
    const begun: { line: string; lineNumber: number } = open ?? { line: '', lineNumber: index + 1 };
    begun.line += isComment ? ` ${piece}` : piece.replace(/^\\+|\\+$/g, '');
    if (!isComment && piece.endsWith('\\')) open = begun;
    else {
      joined.push(begun);
      open = undefined;
    }
  }
  if (open !== undefined) joined.push(open);
  return joined.map(({ line, lineNumber }) => ({
    line: line.replace(/(^|\s)#.*$/, '').trim(),
    lineNumber,
  }));
}

const refusal = (
  name: string,
  lineNumber: number,
  why: string,
): TsdbError<'requirements_refused'> =>
  tsdbError('requirements_refused', `${name}, line ${lineNumber}: ${why}`);
