import { readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { type TsdbError, tsdbError } from '../../errors.js';
import type { PluginFolder } from './plugin-folder.js';

const MAX_FILE_COUNT = 50;
const MAX_FILE_SIZE_BYTES = 1024 * 1024;

/** Options that a file of requirements may begin a line with. Source: pip, "Requirements File Format". */
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
/** All that ends a line for Python, so that no line is hidden in another. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/;
const NESTED: ReadonlySet<string> = new Set(['-r', '--requirement', '-c', '--constraint']);
/** The installer would read the file by other letters than we do. */
const OTHER_ENCODING = /^#.*?coding[:=]\s*(?!utf-?8(?![-\w.]))[-\w.]/i;

/**
 * The path of a file of requirements, after a look at it and at every file that it names: installers read those line by
 * line and say what they read, so none may lie outside of the plugin folder. What a message names is a file and the
 * number of a line, never the line.
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
        `${name}: more than ${MAX_FILE_COUNT} files name one another`,
      );
    }
    seen.add(path);
    for (const { target, lineNumber } of filesNamedIn(await readText(path, name), name)) {
      // As the installer opens it, so that no link on the way leads elsewhere than here.
      const named = isAbsolute(target) ? target : `${dirname(path)}/${target}`;
      if ((await folder.realPathWithin(named)) === undefined) {
        throw refusal(name, lineNumber, 'it names a file that is not in the plugin directory');
      }
      // What a file names in its turn is looked for beside its name, not beside where a link of that name leads.
      const place = join(await realpath(dirname(named)), basename(named));
      if (!seen.has(place) && !waiting.includes(place)) waiting.push(place);
    }
  }
  return first;
}

async function readText(path: string, name: string): Promise<string> {
  const { size, isFile } = await stat(path).then((s) => ({ size: s.size, isFile: s.isFile() }));
  if (!isFile) throw tsdbError('requirements_refused', `${name} is no file of requirements`);
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
    // As below.
  }
  throw tsdbError('requirements_refused', `${name} is no text in UTF-8`);
}

/** Files that the text makes an installer read, except those of the web. */
function filesNamedIn(
  text: string,
  name: string,
): readonly { readonly target: string; readonly lineNumber: number }[] {
  return logicalLines(text).flatMap(({ line, lineNumber }) => {
    const found: { target: string; lineNumber: number }[] = [];
    if (!line.startsWith('-')) return found;
    // As a shell would take them apart, which only these make a difference to.
    if (/["'\\]/.test(line)) {
      throw refusal(name, lineNumber, 'quotes and backslashes are not taken in options');
    }
    const words = line.split(/\s+/);
    for (const [index, word] of words.entries()) {
      if (!word.startsWith('-')) continue;
      const [option, attached] = takeApart(word);
      if (!OPTIONS.has(option))
        throw refusal(name, lineNumber, 'it has an option that is not known');
      const target = attached ?? words[index + 1];
      if (!NESTED.has(option) || target === undefined) continue;
      if (target.includes('${')) {
        throw refusal(name, lineNumber, 'names of files are not made of variables');
      }
      if (!/^https?:\/\//i.test(target)) found.push({ target, lineNumber });
    }
    return found;
  });
}

/** `-rfile`, `--requirement=file`, or the option alone. */
function takeApart(word: string): readonly [option: string, attached: string | undefined] {
  const equals = word.indexOf('=');
  if (word.startsWith('--')) {
    return equals === -1 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)];
  }
  return word.length > 2 ? [word.slice(0, 2), word.slice(2)] : [word, undefined];
}

/** Lines joined where they end in a backslash, without comments, each with the number of its first. */
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
