/** A literal value that a dashboard changes on each refresh. */
export type LiftedValue =
  | { readonly kind: 'string'; readonly text: string }
  /** Digits with an optional time unit. */
  | { readonly kind: 'count'; readonly digits: string; readonly unit: string };

/** A query text with its values removed. Queries that differ only in values have the same key. */
export interface LiftedText {
  readonly key: string;
  /** Values in text order. */
  readonly values: readonly LiftedValue[];
  /** Returns the text with other values. */
  textWith(markers: readonly string[]): string;
}

const MAX_TEXT_LENGTH = 4096;
/** A text with escapes, comments other than a look-back hint, or placeholders is not lifted. */
const UNCLEAR = /[\\$]|--|\/\*(?!\+ lookback\(\w+\) \*\/)/;
/** Numbers long enough to be timestamps. Shorter numbers stay in the key. */
const INSTANT = /(?<![\w.$"'/µ])(\d{10,19})(ns|us|u|ms|s)?(?![\w.µ])/g;

/**
 * Splits a text at its quotes without recognizing names, comments or regular expressions. The
 * caller must parse the text with markers to verify which pieces are values. Returns `undefined`
 * for a text that cannot be cached.
 */
export function liftValues(text: string): LiftedText | undefined {
  if (text.length > MAX_TEXT_LENGTH || UNCLEAR.test(text)) return undefined;
  const pieces = text.split("'");
  if (pieces.length % 2 === 0) return undefined;
  const values: LiftedValue[] = [];
  const between: string[] = [];
  let open = '';
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i] as string;
    if (i % 2 === 1) {
      values.push({ kind: 'string', text: piece });
      between.push(`${open}'`);
      open = "'";
      continue;
    }
    let from = 0;
    for (const match of piece.matchAll(INSTANT)) {
      const [, digits = '', unit = ''] = match;
      values.push({ kind: 'count', digits, unit });
      between.push(open + piece.slice(from, match.index));
      open = '';
      from = match.index + digits.length;
    }
    open += piece.slice(from);
  }
  return {
    // A character that never occurs in statements separates the parts.
    key: `${between.join('\0')}\0${open}`,
    values,
    textWith: (markers) => between.map((part, i) => part + (markers[i] ?? '')).join('') + open,
  };
}
