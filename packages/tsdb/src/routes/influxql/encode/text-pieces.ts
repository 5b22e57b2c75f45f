/** Pieces of an answer are at least so long, but for the last one. */
export const PIECE_LENGTH = 64 * 1024;

/** Texts in pieces that are worth sending. */
export async function* encoded(
  texts: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_LENGTH) continue;
    yield Buffer.from(piece);
    piece = '';
  }
  if (piece !== '') yield Buffer.from(piece);
}

/** Each text by itself: who asks for documents reads the first one while the others are made. */
export async function* documents(
  texts: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const text of texts) if (text !== '') yield Buffer.from(text);
}
