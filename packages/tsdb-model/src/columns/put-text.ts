/** Up to this length, a loop over the characters is faster than a call to `Buffer.write`. */
const SHORT_LENGTH = 64;

/**
 * Writes a string as UTF-8 at `at`. The target needs space for three bytes per character. @returns
 * the number of bytes written.
 */
export function putText(target: Buffer, text: string, at: number): number {
  const { length } = text;
  if (length > SHORT_LENGTH) return target.write(text, at);
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return target.write(text, at);
    target[at + i] = code;
  }
  return length;
}
