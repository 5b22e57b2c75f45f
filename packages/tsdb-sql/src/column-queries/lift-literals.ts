/**
 * A statement without its string literals. A dashboard's refreshes differ only in literals and
 * therefore share a key.
 */
export interface LiftedText {
  readonly key: string;
  /** Literals in text order. */
  readonly literals: readonly string[];
}

const MAX_TEXT_LENGTH = 4096;
/** Comments, escapes, doubled quotes and dollar quotes; such a text is not lifted. */
const UNCLEAR = /--|\/\*|\\|''|\$\$|#/;
const BEFORE_INTERVAL = /\binterval\s*$/i;
const PREFIXED = /[\w$&]$/;

/**
 * Removes the string literals from a statement, except interval literals. Returns `undefined` if
 * literals cannot be recognized reliably.
 */
export function liftLiterals(text: string): LiftedText | undefined {
  if (text.length > MAX_TEXT_LENGTH || UNCLEAR.test(text)) return undefined;
  const pieces = text.split("'");
  if (pieces.length % 2 === 0) return undefined;
  let key = '';
  const literals: string[] = [];
  for (let i = 0; i < pieces.length; i += 2) {
    const piece = pieces[i] as string;
    if (!hasCompleteNames(piece)) return undefined;
    key += piece;
    const literal = pieces[i + 1];
    if (literal === undefined) break;
    if (BEFORE_INTERVAL.test(piece)) {
      key += `'${literal}'`;
      continue;
    }
    // Prefixed literals such as E'…' and X'…'.
    if (PREFIXED.test(piece)) return undefined;
    key += "''";
    literals.push(literal);
  }
  return { key, literals };
}

/**
 * Returns false if a quoted name starts or ends outside the piece, so that a quote belongs to a
 * name.
 */
function hasCompleteNames(piece: string): boolean {
  let count = 0;
  for (let at = piece.indexOf('"'); at >= 0; at = piece.indexOf('"', at + 1)) count++;
  return count % 2 === 0;
}
