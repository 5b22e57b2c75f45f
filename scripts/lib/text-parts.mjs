// Separates the prose of a file (comments, strings, pages) from its code.

/** Matches comments, string literals, regular expressions and other TypeScript tokens. The order matters. */
const TOKEN =
  /(\/\*[\s\S]*?\*\/|\/\/[^\n]*)|('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`)|(?<=[(,=:[!&|?{};+]\s*|return\s+|^\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*|([A-Za-z_$][\w$]*)/gm;
const HAS_TWO_WORDS = /[a-z]\S* +\S*[a-z]/i;
const TEMPLATE_CODE = /\$\{[^}]*\}/g;
const MARKDOWN_CODE = /```[\s\S]*?```|`[^`\n]*`|<[^>\n]*>|\]\([^)]*\)/g;

/** @returns comments, strings that are sentences, and identifiers, each with its line. */
export function partsOfSource(source) {
  const parts = { comments: [], strings: [], names: [] };
  let line = 1;
  let last = 0;
  for (const { 0: token, 1: comment, 2: string, 3: name, index } of source.matchAll(TOKEN)) {
    line += countLines(source.slice(last, index));
    last = index;
    if (comment !== undefined)
      parts.comments.push({ line, text: comment.replace(/`[^`\n]*`/g, '') });
    else if (name !== undefined) parts.names.push({ line, text: name });
    else if (string !== undefined && HAS_TWO_WORDS.test(string))
      parts.strings.push({ line, text: string.replace(TEMPLATE_CODE, '') });
  }
  return parts;
}

/** Returns the text of a page without code and link targets. */
export function textOfPage(page) {
  return page
    .replace(MARKDOWN_CODE, (code) => '\n'.repeat(countLines(code)))
    .split('\n')
    .map((text, index) => ({ line: index + 1, text }));
}

const countLines = (text) => text.split('\n').length - 1;
