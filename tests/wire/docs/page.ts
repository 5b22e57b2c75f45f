import { readFileSync } from 'node:fs';

/** Marks of a block or a hidden step: `<!-- test: file plinth.json, needs promtool -->`. */
export interface Marks {
  /** Reason why it is not run. */
  readonly skip?: string;
  /** File name under which it is saved, for later commands. */
  readonly file?: string;
  /** A required program, or a variable in capitals; without it the block is skipped. */
  readonly needs?: string;
  /** It runs in the background and listens on this port. */
  readonly background?: string;
  /** JSON output of the previous block. */
  readonly output?: true;
}

/** The steps of a page's test, in order. */
export type Step = { readonly line: number; readonly marks: Marks } & (
  | { readonly kind: 'block'; readonly language: string; readonly text: string }
  /** Commands hidden from readers: a prerequisite, or a use of a file from the page. */
  | { readonly kind: 'run'; readonly text: string }
  /** Starts a server with these flags, which replaces the running one. */
  | { readonly kind: 'serve'; readonly flags: string }
);

const COMMENT = /^<!-- test: ([^\n]*?)(?:\n(.*?)\n)? ?-->$/;
const PART = new RegExp(`(${COMMENT.source})|^\`\`\`(\\w*)[^\\n]*\\n(.*?)^\`\`\`$`, 'gms');

/** Reads the steps that a page's test has to carry out; an unknown mark is an error. */
export function readPage(file: string): readonly Step[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^ +(?=```)/gm, '');
  const steps: Step[] = [];
  let marks: Marks = {};
  for (const found of text.matchAll(PART)) {
    const [, comment, words = '', script = '', language = '', body = ''] = found;
    const line = text.slice(0, found.index).split('\n').length;
    if (comment === undefined) {
      steps.push({ kind: 'block', language, text: body, line, marks });
      marks = {};
      continue;
    }
    const [first = '', ...rest] = words.trim().split(' ');
    if (first === 'serve') steps.push({ kind: 'serve', flags: rest.join(' '), line, marks: {} });
    else if (/^run\b/.test(first)) {
      const own = readMarks(words.replace(/^run,? ?/, ''), `${file}:${line}`);
      steps.push({ kind: 'run', text: `${script}\n`, line, marks: own });
    } else marks = { ...marks, ...readMarks(words, `${file}:${line}`) };
  }
  return steps;
}

function readMarks(words: string, at: string): Marks {
  if (words.startsWith('skip ')) return { skip: words.slice(5).trim() };
  const parts = words.split(',').map((part) => part.trim());
  const marks = parts.filter(Boolean).map((part): Marks => {
    const [name = '', value = ''] = part.split(' ');
    if (name === 'output') return { output: true };
    if (/^(?:file|needs|background)$/.test(name) && value !== '') return { [name]: value };
    throw new Error(`${at}: nobody knows the mark "${part}"`);
  });
  return Object.assign({}, ...marks);
}
