import { RE2JS } from 're2js';
import { planFailure } from './plan-failure.js';

const MAX_CACHED = 256;
const cache = new Map<string, RE2JS>();

/** A regular expression that takes time in proportion to the text, whatever it is: users send these. */
export interface Matcher {
  readonly source: string;
  test(text: string): boolean;
}

/** Throws `PlanError` for what is no expression of RE2. Source: query-languages, "Regex". */
export function compileRegex(source: string): Matcher {
  let compiled = cache.get(source);
  if (compiled === undefined) {
    compiled = compile(source);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(source, compiled);
  }
  const regex = compiled;
  return { source: cleaned(source), test: (text) => regex.matcher(text).find() };
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(cleaned(source));
  } catch (error) {
    throw planFailure(
      `regex parse error: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** A backslash before a character that needs none is dropped: `d\isk` means `disk`. */
function cleaned(source: string): string {
  return source.replace(/\\(.)/gsu, (whole, character: string) =>
    /[a-zA-Z]/.test(character) && !/[abfnrtvAzbBCdDsSwWpPQExk]/.test(character)
      ? character
      : /[-/ "'#&~:;,<>=!@%`]/.test(character)
        ? character
        : whole,
  );
}
