const INDENT = '  ';

/** Reformats streamed JSON with line breaks and indentation. */
export class PrettyJson {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** True after an opening bracket, before its first element. */
  #isOpening = false;

  add(text: string): string {
    let out = '';
    for (const character of text) {
      if (this.#isInString) {
        out += character;
        if (this.#isEscaped) this.#isEscaped = false;
        else if (character === '\\') this.#isEscaped = true;
        else if (character === '"') this.#isInString = false;
        continue;
      }
      const isClosing = character === '}' || character === ']';
      if (this.#isOpening && !isClosing) {
        out += this.#line();
      } else if (isClosing && !this.#isOpening) {
        this.#depth--;
        out += this.#line() + character;
        continue;
      } else if (isClosing) this.#depth--;
      this.#isOpening = false;
      out += character;
      if (character === '"') this.#isInString = true;
      else if (character === '{' || character === '[') {
        this.#depth++;
        this.#isOpening = true;
      } else if (character === ',') out += this.#line();
      else if (character === ':') out += ' ';
    }
    return out;
  }

  #line(): string {
    return `\n${INDENT.repeat(this.#depth)}`;
  }
}
