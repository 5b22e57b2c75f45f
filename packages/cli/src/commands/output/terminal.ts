/** Ranges of characters that change the text direction. */
const DIRECTIONS = [
  [0x61c, 0x61c],
  [0x200e, 0x200f],
  [0x202a, 0x202e],
  [0x2066, 0x2069],
] as const;

/**
 * Escapes control characters in text from a server, a backup or a file, so that it cannot control the terminal.
 * Tabs and line ends are kept.
 */
export function printable(text: string): string {
  let shown = '';
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    if (!isOrder(text, index)) continue;
    const code = text.charCodeAt(index);
    const hex = code.toString(16);
    shown += text.slice(start, index);
    shown += code < 0x100 ? `\\x${hex.padStart(2, '0')}` : `\\u${hex.padStart(4, '0')}`;
    start = index + 1;
  }
  return start === 0 ? text : shown + text.slice(start);
}

function isOrder(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code < 0x20) {
    if (code === 0x0d) return text.charCodeAt(index + 1) !== 0x0a;
    return code !== 0x09 && code !== 0x0a;
  }
  if (code < 0x61c) return code >= 0x7f && code <= 0x9f;
  return code <= 0x2069 && DIRECTIONS.some(([first, last]) => code >= first && code <= last);
}

/** Prints a result: verbatim to a file or pipe, escaped on a terminal. */
export function print(text: string): void {
  process.stdout.write(process.stdout.isTTY ? printable(text) : text);
}

/** Prints a message to standard error. */
export function printNote(text: string): void {
  process.stderr.write(printable(text));
}
