/** Minimum length of all pieces except the last. */
export const PIECE_LENGTH = 64 * 1024;

/** Joins strings into pieces of a useful size. */
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

/** Yields each document separately, so that clients read the first one while others are created. */
export async function* documents(
  texts: AsyncGenerator<string, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const text of texts) if (text !== '') yield Buffer.from(text);
}
