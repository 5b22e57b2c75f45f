import { readFileSync } from 'node:fs';

/** How a block or a hidden step is marked: `<!-- test: file plinth.json, needs promtool -->`. */
export interface Marks {
  /** Why it is not run. */
  readonly skip?: string;
  /** It is saved under this name, for the commands that follow. */
  readonly file?: string;
  /** A program, or a variable in capitals: without it the block is not run here. */
  readonly needs?: string;
  /** It runs beside the rest of the page and listens on this port. */
  readonly background?: string;
  /** JSON that the block before it prints. */
  readonly output?: true;
}

/** What a page has to be tested, in its order. */
export type Step = { readonly line: number; readonly marks: Marks } & (
  | { readonly kind: 'block'; readonly language: string; readonly text: string }
  /** Commands that readers do not see: what they have already, or how a file of the page is used. */
  | { readonly kind: 'run'; readonly text: string }
  /** A server with these flags, in place of the one that runs. */
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
