/** A value that stands in a text by itself: what a dashboard sends anew with each refresh. */
export type LiftedValue =
  | { readonly kind: 'string'; readonly text: string }
  /** Digits and a unit of time, or no unit. */
  | { readonly kind: 'count'; readonly digits: string; readonly unit: string };

/** A text with its values taken out: what differs in them alone has the same key. */
export interface LiftedText {
  readonly key: string;
  /** In the order of the text. */
  readonly values: readonly LiftedValue[];
  /** The text with other values in the same places. */
  textWith(markers: readonly string[]): string;
}

const MAX_TEXT_LENGTH = 4096;
/** With escapes, comments, or placeholders for what is told elsewhere, a text is left as it is. */
const UNCLEAR = /[\\$]|--|\/\*/;
/** Instants as numbers. Counts of other things have fewer digits, and stay in the key. */
const INSTANT = /(?<![\w.$"'/µ])(\d{10,19})(ns|us|u|ms|s)?(?![\w.µ])/g;

/**
 * Cuts a text at its quotes, without knowing names, comments or regular expressions: what is no value after all has to be
 * found by reading the text with other values in the places of these. `undefined`: a text to be read anew each time.
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
    // A character that no statement has tells a place from what stands around it.
    key: `${between.join('\0')}\0${open}`,
    values,
    textWith: (markers) => between.map((part, i) => part + (markers[i] ?? '')).join('') + open,
  };
}
