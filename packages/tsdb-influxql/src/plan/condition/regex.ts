import { invariant, Memo, messageOf } from '@plinth/kernel';
import { regexEffort } from '@plinth/tsdb-model/text/regex-effort.js';
import type { RE2JS } from 're2js';
import { planFailure } from '../plan-failure.js';

const MAX_CACHED = 256;
const cache = new Memo<string, RE2JS>({ maxCount: MAX_CACHED });

let library: typeof import('re2js') | undefined;

/**
 * Loads the regular-expression library if a text may need it. It is lazy because building its
 * tables takes time.
 */
export async function loadRegexes(text: string): Promise<void> {
  if (library === undefined && /[/~]/.test(text)) library = await import('re2js');
}

/**
 * A compiled regular expression. Clients supply it, so matching must take time linear in the text.
 */
export interface Matcher {
  readonly source: string;
  /** Upper bound of the steps per character of the matched text. */
  readonly stepsPerCharacter: number;
  test(text: string): boolean;
}

/**
 * Compiles a regular expression. Throws `plan_error` if it is not valid RE2. Source:
 * query-languages, "Regex".
 */
export function compileRegex(source: string): Matcher {
  if (source === '') return EVERYTHING;
  const regex = cache.of(source, compile);
  const { stepsPerCharacter } = regexEffort(source);
  return { source: cleaned(source), stepsPerCharacter, test: (text) => regex.matcher(text).find() };
}

const EVERYTHING: Matcher = { source: '', stepsPerCharacter: 0, test: () => true };

function compile(source: string): RE2JS {
  invariant(library !== undefined, 'the regular-expression library must be loaded before planning');
  try {
    return library.RE2JS.compile(cleaned(source));
  } catch (error) {
    throw planFailure(`regex parse error: ${messageOf(error)}`);
  }
}

/** Drops a backslash before a character that needs no escape: `d\isk` means `disk`. */
function cleaned(source: string): string {
  return source.replace(/\\(.)/gsu, (whole, character: string) =>
    /[a-zA-Z]/.test(character) && !/[abfnrtvAzbBCdDsSwWpPQExk]/.test(character)
      ? character
      : /[-/ "'#&~:;,<>=!@%`]/.test(character)
        ? character
        : whole,
  );
}
