/**
 * Returns the text of one member of a JSON object without white space between tokens, or undefined when the member is
 * absent. Digits, escapes and member order are preserved, unlike with `JSON.parse` and `JSON.stringify`. `text` must be
 * valid JSON. If several members have the same name, the last one counts, as in `JSON.parse`.
 */
export function compactMember(text: string, name: string): string | undefined {
  const scanner = new Scanner(text);
  let found: string | undefined;
  scanner.enterObject();
  for (let key = scanner.nextKey(); key !== undefined; key = scanner.nextKey()) {
    const value = scanner.takeValue();
    if (key === name) found = value;
  }
  return found;
}

/** Returns the items of a JSON array as written, including white space. */
export function splitArray(text: string): readonly string[] {
  const scanner = new Scanner(text);
  const items: string[] = [];
  scanner.enterArray();
  for (let item = scanner.nextItem(); item !== undefined; item = scanner.nextItem()) {
    items.push(item);
  }
  return items;
}

const SPACE = /[ \t\n\r]*/y;
/** Characters between strings and brackets. */
const SCALAR = /[^\s,\]}"[{]+/y;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  enterObject(): void {
    this.#skipSpace();
    this.#at += 1;
  }

  enterArray(): void {
    this.enterObject();
  }

  /** Moves to the position after the colon and returns the key; undefined at the end of the object. */
  nextKey(): string | undefined {
    this.#skipTo('"}');
    if (this.#text[this.#at] !== '"') return undefined;
    const key = JSON.parse(this.#string()) as string; // a quoted JSON value is a string
    this.#skipTo(':');
    this.#at += 1;
    return key;
  }

  nextItem(): string | undefined {
    this.#skipSpace();
    if (this.#text[this.#at] === ',') {
      this.#at += 1;
      this.#skipSpace();
    }
    if (this.#at >= this.#text.length || this.#text[this.#at] === ']') return undefined;
    return this.takeValue();
  }

  /** Returns one value of any kind, without white space between tokens. */
  takeValue(): string {
    const parts: string[] = [];
    let depth = 0;
    do {
      this.#skipSpace();
      const char = this.#text[this.#at] ?? '';
      if (char === '"') parts.push(this.#string());
      else if (char === '{' || char === '[') {
        depth += 1;
        parts.push(this.#step(char));
      } else if (char === '}' || char === ']') {
        depth -= 1;
        parts.push(this.#step(char));
      } else if (char === ',' || char === ':') parts.push(this.#step(char));
      else if (char === '') break;
      else parts.push(this.#match(SCALAR));
    } while (depth > 0);
    return parts.join('');
  }

  /**
   * Returns the text from quote to quote. Uses a search, because a regular expression over
   * megabytes would overflow the stack.
   */
  #string(): string {
    const start = this.#at;
    let end = start;
    do {
      end = this.#text.indexOf('"', end + 1);
    } while (end !== -1 && isEscaped(this.#text, end));
    this.#at = end === -1 ? this.#text.length : end + 1;
    return this.#text.slice(start, this.#at);
  }

  #step(char: string): string {
    this.#at += 1;
    return char;
  }

  #skipSpace(): void {
    this.#match(SPACE);
  }

  #skipTo(chars: string): void {
    while (this.#at < this.#text.length && !chars.includes(this.#text[this.#at] ?? '')) {
      this.#at += 1;
    }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const matched = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += matched.length;
    return matched;
  }
}

/** Whether an odd number of backslashes precedes the position. */
function isEscaped(text: string, position: number): boolean {
  let first = position;
  while (text[first - 1] === '\\') first -= 1;
  return (position - first) % 2 === 1;
}
