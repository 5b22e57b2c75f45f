/** A statement with its string literals taken out: what a dashboard sends again with other times is the same text. */
export interface LiftedText {
  readonly key: string;
  /** In the order of the text. */
  readonly literals: readonly string[];
}

const MAX_TEXT_LENGTH = 4096;
/** Comments, escapes, doubled quotes and dollar quotes: such a text is left as it is. */
const UNCLEAR = /--|\/\*|\\|''|\$\$|#/;
const BEFORE_INTERVAL = /\binterval\s*$/i;
const PREFIXED = /[\w$&]$/;

/** `undefined` where it is not plain to see what is a literal. The literals of intervals stay in the key. */
export function liftLiterals(text: string): LiftedText | undefined {
  if (text.length > MAX_TEXT_LENGTH || UNCLEAR.test(text)) return undefined;
  const pieces = text.split("'");
  if (pieces.length % 2 === 0) return undefined;
  let key = '';
  const literals: string[] = [];
  for (let i = 0; i < pieces.length; i += 2) {
    const piece = pieces[i] as string;
    if (!hasWholeNames(piece)) return undefined;
    key += piece;
    const literal = pieces[i + 1];
    if (literal === undefined) break;
    if (BEFORE_INTERVAL.test(piece)) {
      key += `'${literal}'`;
      continue;
    }
    // E'…', X'…' and their like.
    if (PREFIXED.test(piece)) return undefined;
    key += "''";
    literals.push(literal);
  }
  return { key, literals };
}

/** False when a quoted name begins or ends within the piece only: then a quote was part of a name. */
function hasWholeNames(piece: string): boolean {
  let count = 0;
  for (let at = piece.indexOf('"'); at >= 0; at = piece.indexOf('"', at + 1)) count++;
  return count % 2 === 0;
}
